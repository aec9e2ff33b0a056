import type { CallSignal } from '../call-controller.ts'
import { UpstreamFailure } from '../failure.ts'
import type { Layer } from '../service.ts'

const retryAfterMsMost = 3_000
const backoffMsFirst = 250

/** What {@link retry} needs. */
export interface RetryOptions {
  /** Further attempts at the same upstream, 0 to 5. */
  readonly retries: number
  /** 0 to 1, for the jitter. */
  readonly random?: () => number
  /** Resolves after so many milliseconds, or rejects with the signal's reason. */
  readonly sleep?: (ms: number, signal: CallSignal) => Promise<void>
}

/**
 * Asks the same upstream again where that can help (failover.md rows 18 to 20): after a 429 whose Retry-After is at
 * most 3 s, and after a server error, 250 ms later, doubling, give or take a quarter.
 */
export function retry<Request, Reply>({
  retries,
  random = Math.random,
  sleep = abortableSleep,
}: RetryOptions): Layer<Request, Reply> {
  return (inner) =>
    async function retried(request, call) {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await inner(request, call)
        } catch (error) {
          const waitMs = attempt < retries && !call.signal.aborted ? waitBefore(error, attempt, random) : undefined
          if (waitMs === undefined) throw error
          await sleep(waitMs, call.signal)
        }
      }
    }
}

function waitBefore(error: unknown, attempt: number, random: () => number): number | undefined {
  if (!(error instanceof UpstreamFailure) || error.isFinal) return undefined
  switch (error.failure) {
    case 'rate_limit':
      return error.retryAfterMs !== undefined && error.retryAfterMs <= retryAfterMsMost ? error.retryAfterMs : undefined
    case 'server_error':
    case 'overloaded':
      if (error.retryAfterMs !== undefined)
        return error.retryAfterMs <= retryAfterMsMost ? error.retryAfterMs : undefined
      return backoffMsFirst * 2 ** attempt * (0.75 + 0.5 * random())
    default:
      return undefined
  }
}

function abortableSleep(ms: number, signal: CallSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave)
      resolve()
    }, ms)
    signal.addEventListener('abort', leave, { once: true })
  })
}
