import { UpstreamFailure, type FailureClass, type FailureDetails } from './failure.ts'
import type { Call } from './service.ts'

/** A clock that a test moves. For tests. */
export interface FakeClock {
  readonly now: () => number
  pass(ms: number): void
}

/** @param start milliseconds */
export function fakeClock(start = 1_000_000): FakeClock {
  let time = start
  return {
    now: () => time,
    pass(ms) {
      time += ms
    },
  }
}

/** A failure by its class. For tests. */
export function failureOf(failure: FailureClass, details: FailureDetails = {}): UpstreamFailure {
  return new UpstreamFailure(failure, `it was ${failure}`, details)
}

/** A call that nobody leaves, unless a signal says so. For tests. */
export function callOf(signal: AbortSignal = new AbortController().signal): Call {
  return { signal, trail: [] }
}

/** What a promise was rejected with. For tests. @throws when it was not */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new Error(`it was not rejected but gave ${Bun.inspect(value)}`)
}
