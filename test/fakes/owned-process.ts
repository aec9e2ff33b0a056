import { rmSync } from 'node:fs'

/** Has a program and its folder end with this process. @returns kills the program and removes the folder now */
export function ownedProcess(
  child: { kill(signal: 'SIGKILL'): void; readonly exited: Promise<number> },
  folder: string,
): () => Promise<void> {
  const end = (): void => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', end)
  return async () => {
    process.removeListener('exit', end)
    end()
    await child.exited
  }
}
