/** An answer to a message. */
export interface PostAnswer {
  readonly status: number
  /** The wait that it asks for, in milliseconds. */
  readonly waitMs?: number | undefined
  /** Absent: it could not be read. */
  readonly body?: Uint8Array | undefined
}

/** Sends one message. @throws {Error} without an answer */
export type Post = (body: readonly Uint8Array[]) => Promise<PostAnswer>

/** What became of a message: the receiver took it, or why not. */
export type Delivery =
  | { readonly taken: PostAnswer; readonly reason?: never }
  | { readonly taken?: never; readonly reason: string }

export interface DeliveryOptions {
  readonly post: Post
  /** Whether a message is sent again after this status. */
  readonly isTransient: (status: number) => boolean
  /** Aborts when the next try is the last one. */
  readonly ending: AbortSignal
  /** Resolves after this time, or when `ending` aborts. Default: a timer. */
  readonly wait?: (ms: number) => Promise<void>
  /** A number from 0 to 1. Default `Math.random`. */
  readonly random?: () => number
}

const triesMax = 5
const firstWaitMs = 1_000
/** Longer waits that a receiver asks for are shortened: what is to be sent waits in memory. */
const waitMaxMs = 120_000

/**
 * Sends a message until a receiver takes it: at most five times, with waits from one second that double, or that the
 * receiver asks for. Never rejects.
 */
export async function deliver(
  body: readonly Uint8Array[],
  { post, isTransient, ending, wait = (ms) => sleepUntil(ms, ending), random = Math.random }: DeliveryOptions,
): Promise<Delivery> {
  for (let tries = 1; ; tries += 1) {
    const answer = await post(body).catch((error: unknown) => (error instanceof Error ? error : new Error('no answer')))
    if (!(answer instanceof Error) && answer.status >= 200 && answer.status < 300) return { taken: answer }
    const reason = answer instanceof Error ? answer.message : `status ${answer.status}`
    const isFinal = !(answer instanceof Error) && !isTransient(answer.status)
    if (isFinal || tries === triesMax || ending.aborted) return { reason }
    const asked = answer instanceof Error ? undefined : answer.waitMs
    const ms = asked ?? firstWaitMs * 2 ** (tries - 1) * (0.5 + random())
    await wait(Math.min(ms, waitMaxMs))
  }
}

/** Resolves after this time, or when the signal aborts. */
function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms)
    function end(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}

/** Between two lines of the log about what was lost. */
const logMs = 60_000

/** Counts what could not be sent, and logs it at most once a minute. */
export class Losses {
  readonly #log: (count: number, reason: string) => void
  #total = 0
  #unlogged = 0
  #loggedAt = Number.NEGATIVE_INFINITY

  /** @param log gets the number that was not logged yet */
  constructor(log: (count: number, reason: string) => void) {
    this.#log = log
  }

  get total(): number {
    return this.#total
  }

  add(count: number, reason: string): void {
    this.#total += count
    this.#unlogged += count
    if (performance.now() - this.#loggedAt >= logMs) this.flush(reason)
  }

  /** Logs what was not logged yet. */
  flush(reason: string): void {
    if (this.#unlogged === 0) return
    this.#loggedAt = performance.now()
    this.#log(this.#unlogged, reason)
    this.#unlogged = 0
  }
}
