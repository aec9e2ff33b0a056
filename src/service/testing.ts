import { UpstreamFailure, type FailureClass, type FailureDetails } from './failure.ts'
import type { Call } from './service.ts'

/** A clock that the test advances. For tests. */
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

/** A failure of this class. For tests. */
export function failureOf(failure: FailureClass, details: FailureDetails = {}): UpstreamFailure {
  return new UpstreamFailure(failure, `it was ${failure}`, details)
}

/** A call that is aborted only by `signal`. For tests. */
export function callOf(signal: AbortSignal = new AbortController().signal): Call {
  return { signal, trail: [] }
}

/** The error that a promise rejects with. For tests. @throws {Error} when the promise resolves */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new Error(`it was not rejected but gave ${Bun.inspect(value)}`)
}
