import { readLines } from '../lines.ts'

/** A server in a process of Node. `await using` stops it. */
export interface NodeServer extends AsyncDisposable {
  readonly port: number
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** Values that it printed as `{"secret":"…"}`, which must not be logged. */
  readonly secrets: ReadonlySet<string>
  stop(): Promise<void>
}

/** Runs a script with Node until it prints `{"port":N}`. @throws with its output when it ends before */
export async function startNodeServer(
  script: URL,
  flags: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<NodeServer> {
  const child = Bun.spawn(['node', script.pathname, ...flags], {
    env: { ...process.env, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const address = Promise.withResolvers<number>()
  const secrets = new Set<string>()
  let output = ''

  function note(line: string): void {
    const port = /^\{"port":(\d+)\}$/.exec(line)?.[1]
    const secret = /^\{"secret":"([^"]+)"\}$/.exec(line)?.[1]
    if (port !== undefined) address.resolve(Number(port))
    else if (secret !== undefined) secrets.add(secret)
    else output += `${line}\n`
  }

  const read = Promise.all([readLines(child.stdout, note), readLines(child.stderr, note)])
  void read.then(() => address.reject(new Error(`${script.pathname} did not start:\n${output}`)))
  const port = await address.promise

  async function stop(): Promise<void> {
    process.removeListener('exit', kill)
    child.kill('SIGKILL')
    await child.exited
    await read
  }

  return { port, url: `http://127.0.0.1:${port}`, secrets, stop, [Symbol.asyncDispose]: stop }
}
