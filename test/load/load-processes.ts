import { readLines } from '../lines.ts'
import type { LoadLine, LoadOutcome, LoadPlan, LoadSeen } from './load-plan.ts'

/** The token upstream, under way. `await using` ends it. */
export interface TokenUpstream extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  readonly port: number
  readonly pid: number
  /** Streams that were asked for, by the names of their orders. */
  readonly asked: ReadonlySet<string>
  /** When the upstream saw the client of an order leave, µs since 1970. */
  readonly gone: ReadonlyMap<string, number>
}

/** A client process, under way. `await using` ends it. */
export interface TokenClient extends AsyncDisposable {
  readonly pid: number
  /** What it had seen when it last said so, at most a second ago. */
  readonly seen: LoadSeen | undefined
  /** When it left an order on purpose, µs since 1970. */
  readonly left: ReadonlyMap<string, number>
  /** Rejects when it ends without one. */
  readonly outcome: Promise<LoadOutcome>
  /** Has it begin nothing new. */
  finish(): void
}

function start(
  script: string,
  plan: readonly string[],
  note: (line: string) => void,
): { readonly child: Bun.Subprocess; readonly ended: Promise<number> } {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/${script}`, ...plan], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = Promise.all([child.exited, readLines(child.stdout, note)]).then(([code]) => {
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
    const told: { readonly port?: number; readonly asked?: string; readonly gone?: string; readonly us?: number } =
      JSON.parse(line)
    if (told.port !== undefined) listening.resolve(told.port)
    if (told.asked !== undefined) asked.add(told.asked)
    if (told.gone !== undefined && told.us !== undefined) gone.set(told.gone, told.us)
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

/** Starts a client process (token-client.ts) on this plan. */
export function startClient(plan: LoadPlan): TokenClient {
  const outcome = Promise.withResolvers<LoadOutcome>()
  const left = new Map<string, number>()
  let seen: LoadSeen | undefined
  const { child, ended } = start('token-client.ts', [JSON.stringify(plan)], (line) => {
    const told: LoadLine = JSON.parse(line)
    if (told.kind === 'seen') seen = told.seen
    else if (told.kind === 'left') left.set(told.name, told.us)
    else {
      seen = told.outcome
      outcome.resolve(told.outcome)
    }
  })
  void ended.then((code) => outcome.reject(new Error(`a client ended with ${code} and no outcome`)))
  // Whoever waits for it hears of it.
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

/** What several clients have seen, together. */
export function together(all: readonly LoadSeen[]): LoadSeen {
  const sum = (read: (seen: LoadSeen) => number) => all.reduce((total, seen) => total + read(seen), 0)
  return {
    streams: {
      open: sum(({ streams }) => streams.open),
      openMost: sum(({ streams }) => streams.openMost),
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
