import { fileURLToPath } from 'node:url'
import { readLines } from '../lines.ts'

/** The fault upstream in another process. */
export interface UpstreamProcess extends AsyncDisposable {
  /** Base URL of the mode with this name. */
  url(mode: string): string
  readonly origin: string
  readonly pid: number
  stop(): Promise<void>
}

/**
 * Starts it on a free port.
 *
 * @param script another fake, beside this file
 * @throws when it does not print its port
 */
export async function startUpstreamProcess(script = 'fault-upstream.ts'): Promise<UpstreamProcess> {
  const child = Bun.spawn([process.execPath, fileURLToPath(new URL(script, import.meta.url)), '--port', '0'], {
    stdout: 'pipe',
    stderr: 'inherit',
    stdin: 'ignore',
  })
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
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
