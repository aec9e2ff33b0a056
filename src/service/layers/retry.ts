import { UpstreamFailure } from '../failure.ts'
import type { CallSignal, Layer } from '../service.ts'

const retryAfterMsMax = 3_000
const backoffMsFirst = 250

export interface RetryOptions {
  /** Further attempts at the same upstream, 0 to 5. */
  readonly retries: number
  /** 0 to 1, for the jitter. */
  readonly random?: () => number
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason. */
  readonly sleep?: (ms: number, signal: CallSignal) => Promise<void>
  /** Called with the failure of an attempt before the wait for the next one. */
  readonly onRetry?: (failure: UpstreamFailure) => void
}

/**
 * Retries at the same upstream (failover.md rows 18 to 20): after a 429 with a Retry-After of at most 3 s, and after a
 * server error unless its Retry-After is longer than that. The first wait is 250 ms and doubles each time, ±25 %. With
 * a Retry-After it is not random, and at least that long. A probe is not retried.
 */
export function retry<Request, Reply>({
  retries,
  random = Math.random,
  sleep = abortableSleep,
  onRetry,
}: RetryOptions): Layer<Request, Reply> {
  return (inner) =>
    async function retried(request, call) {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await inner(request, call)
        } catch (error) {
          if (!(error instanceof UpstreamFailure) || attempt >= retries || call.isProbe === true || call.signal.aborted)
            throw error
          const waitMs = waitBefore(error, backoffMsFirst * 2 ** attempt, random)
          if (waitMs === undefined) throw error
          onRetry?.(error)
          await sleep(waitMs, call.signal)
        }
      }
    }
}

/** Milliseconds before the next attempt; `undefined`: no retry. */
function waitBefore(
  { failure, retryAfterMs, isFinal }: UpstreamFailure,
  backoffMs: number,
  random: () => number,
): number | undefined {
  if (isFinal || (failure !== 'rate_limit' && failure !== 'server_error' && failure !== 'overloaded')) return undefined
  if (retryAfterMs !== undefined) return retryAfterMs <= retryAfterMsMax ? Math.max(retryAfterMs, backoffMs) : undefined
  return failure === 'rate_limit' ? undefined : backoffMs * (0.75 + 0.5 * random())
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
