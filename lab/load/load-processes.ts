import { readLines } from '../../test/lines.ts'
import type { LoadLine, LoadOutcome, LoadPlan, LoadSeen } from './load-plan.ts'

/** The running token upstream. `await using` ends it. */
export interface TokenUpstream extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  readonly port: number
  readonly pid: number
  /** Names of the orders of all requested streams. */
  readonly asked: ReadonlySet<string>
  /** Order → time at which its client left, µs since 1970. */
  readonly gone: ReadonlyMap<string, number>
}

/** A running client process. `await using` ends it. */
export interface TokenClient extends AsyncDisposable {
  readonly pid: number
  /** Its latest counts, at most a second old. */
  readonly seen: LoadSeen | undefined
  /** Order → time at which the client left it on purpose, µs since 1970. */
  readonly left: ReadonlyMap<string, number>
  /** Rejects when the process ends without an outcome. */
  readonly outcome: Promise<LoadOutcome>
  /** Stops new requests; open ones go on to their end. */
  finish(): void
}

function start(
  script: string,
  plan: readonly string[],
  onLine: (line: string) => void,
): { readonly child: Bun.Subprocess; readonly ended: Promise<number> } {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/${script}`, ...plan], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = Promise.all([child.exited, readLines(child.stdout, onLine)]).then(([code]) => {
    process.removeListener('exit', kill)
    return code
  })
  return { child, ended }
}

/** Starts the token upstream (token-upstream.ts). */
export async function startUpstream(): Promise<TokenUpstream> {
  const listening = Promise.withResolvers<number>()
  const asked = new Set<string>(),
    gone = new Map<string, number>()
  const { child, ended } = start('token-upstream.ts', [], (line) => {
    const message: { readonly port?: number; readonly asked?: string; readonly gone?: string; readonly us?: number } =
      JSON.parse(line)
    if (message.port !== undefined) listening.resolve(message.port)
    if (message.asked !== undefined) asked.add(message.asked)
    if (message.gone !== undefined && message.us !== undefined) gone.set(message.gone, message.us)
  })
  void ended.then((code) => listening.reject(new Error(`the upstream ended with ${code}`)))
  const port = await listening.promise
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid,
    asked,
    gone,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Starts a client process (token-client.ts). */
export function startClient(plan: LoadPlan): TokenClient {
  const outcome = Promise.withResolvers<LoadOutcome>()
  const left = new Map<string, number>()
  let seen: LoadSeen | undefined
  const { child, ended } = start('token-client.ts', [JSON.stringify(plan)], (line) => {
    const message: LoadLine = JSON.parse(line)
    if (message.kind === 'seen') seen = message.seen
    else if (message.kind === 'left') left.set(message.name, message.us)
    else {
      seen = message.outcome
      outcome.resolve(message.outcome)
    }
  })
  void ended.then((code) => outcome.reject(new Error(`a client ended with ${code} and no outcome`)))
  // A rejection reaches the callers that await `outcome`; without one it is no uncaught error.
  outcome.promise.catch(() => undefined)
  return {
    pid: child.pid,
    get seen() {
      return seen
    },
    left,
    outcome: outcome.promise,
    finish: () => child.kill('SIGTERM'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Sums the counts of several clients. */
export function together(all: readonly LoadSeen[]): LoadSeen {
  const sum = (read: (seen: LoadSeen) => number) => all.reduce((total, seen) => total + read(seen), 0)
  return {
    streams: {
      open: sum(({ streams }) => streams.open),
      openMax: sum(({ streams }) => streams.openMax),
      complete: sum(({ streams }) => streams.complete),
      broken: sum(({ streams }) => streams.broken),
      left: sum(({ streams }) => streams.left),
      tokensExpected: sum(({ streams }) => streams.tokensExpected),
    },
    faults: {
      seen: sum(({ faults }) => faults.seen),
      lost: sum(({ faults }) => faults.lost),
      garbled: sum(({ faults }) => faults.garbled),
      duplicated: sum(({ faults }) => faults.duplicated),
    },
    plain: { right: sum(({ plain }) => plain.right), failed: sum(({ plain }) => plain.failed) },
    complaints: all.flatMap(({ complaints }) => complaints),
  }
}
