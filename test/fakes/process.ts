import { fileURLToPath } from 'node:url'
import { readLines } from '../lines.ts'

/** The fault upstream in another process. */
export interface UpstreamProcess extends AsyncDisposable {
  /** Base URL of the mode with this name. */
  url(mode: string): string
  readonly pid: number
  stop(): Promise<void>
}

/** Starts it on a free port. @throws when it does not print its port */
export async function startUpstreamProcess(): Promise<UpstreamProcess> {
  const child = Bun.spawn(
    [process.execPath, fileURLToPath(new URL('./fault-upstream.ts', import.meta.url)), '--port', '0'],
    { stdout: 'pipe', stderr: 'inherit', stdin: 'ignore' },
  )
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const address = Promise.withResolvers<number>()
  void readLines(child.stdout, (line) => {
    const port = /"port":(\d+)/.exec(line)?.[1]
    if (port !== undefined) address.resolve(Number(port))
  }).then(() => address.reject(new Error('the upstream did not start')))
  const port = await address.promise

  async function stop(): Promise<void> {
    process.removeListener('exit', kill)
    child.kill('SIGKILL')
    await child.exited
  }

  return {
    url: (mode) => `http://127.0.0.1:${port}/mode/${mode}/v1`,
    pid: child.pid,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
