import { readProtobuf } from './protobuf.ts'

/** An answer of a collector. */
export interface CollectorAnswer {
  readonly status: number
  /** The wait that it asks for, in milliseconds. */
  readonly waitMs?: number | undefined
  /** Absent: it could not be read. */
  readonly body?: Uint8Array | undefined
}

/** Sends one message. @throws {Error} without an answer */
export type Post = (body: readonly Uint8Array[]) => Promise<CollectorAnswer>

/** What became of a message. */
export interface Delivery {
  /** Items that the collector refused of a message that it took; `undefined`: it did not take the message. */
  readonly refused: number | undefined
  /** Why it was not taken, or refused in part. */
  readonly reason?: string
}

export interface DeliveryOptions {
  readonly post: Post
  /** Aborts when the next try is the last one. */
  readonly ending: AbortSignal
  /** Resolves after this time, or when `ending` aborts. */
  readonly wait: (ms: number) => Promise<void>
  /** A number from 0 to 1. Default `Math.random`. */
  readonly random?: () => number
}

const triesMax = 5
const firstWaitMs = 1_000
/** Longer waits that a collector asks for are shortened: what is to be sent waits in memory. */
const waitMaxMs = 120_000
/** Statuses after which a message is sent again (OTLP, "Failures"). */
const transient: ReadonlySet<number> = new Set([429, 502, 503, 504])

/**
 * Sends a message until a collector takes it: at most five times, with waits from one second that double, or that the
 * collector asks for. Never rejects.
 */
export async function deliver(
  body: readonly Uint8Array[],
  { post, ending, wait, random = Math.random }: DeliveryOptions,
): Promise<Delivery> {
  for (let tries = 1; ; tries += 1) {
    const answer = await post(body).catch((error: unknown) => (error instanceof Error ? error : new Error('no answer')))
    if (!(answer instanceof Error) && answer.status >= 200 && answer.status < 300) return partial(answer.body)
    const reason = answer instanceof Error ? answer.message : `status ${answer.status}`
    const isFinal = !(answer instanceof Error) && !transient.has(answer.status)
    if (isFinal || tries === triesMax || ending.aborted) return { refused: undefined, reason }
    const asked = answer instanceof Error ? undefined : answer.waitMs
    const ms = asked ?? firstWaitMs * 2 ** (tries - 1) * (0.5 + random())
    await wait(Math.min(ms, waitMaxMs))
  }
}

/** Reads the partial success of an answer, which is not sent again. */
function partial(body: Uint8Array | undefined): Delivery {
  for (const { value } of fieldsOf(body, 1))
    for (const { value: count } of value instanceof Uint8Array ? fieldsOf(value, 1) : [])
      if (typeof count === 'number' && count > 0) return { refused: count, reason: 'refused by the collector' }
  return { refused: 0 }
}

function fieldsOf(bytes: Uint8Array | undefined, wanted: number) {
  return bytes === undefined ? [] : [...readProtobuf(bytes)].filter(({ field }) => field === wanted)
}
