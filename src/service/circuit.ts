import { failureEffects, type FailureClass, type UpstreamFailure } from './failure.ts'

const windowMs = 30_000
const bucketMs = 1_000
const consecutiveMax = 5
const windowFailuresMin = 20
const openMsFirst = 5_000
const openMsMost = 60_000
const coolDownFrom = 3
const rateLimitMsFirst = 5_000
const rateLimitMsMost = 60_000

/** Why an upstream is not to be asked now, and for how much longer. */
export interface Unavailability {
  /** `retry_after`: it asked to be left alone. `open`: its breaker is open, or its one probe is under way. `cool_down`: it failed three times for a lasting reason. `full`: it has as many requests as it may have. */
  readonly reason: 'retry_after' | 'open' | 'cool_down' | 'full'
  readonly remainingMs: number
}

/** The health of one upstream, or of one model at it: circuit breaker, cool-downs and Retry-After (failover.md, rule 2 and "Breaker"). */
export interface Circuit {
  unavailable(): Unavailability | undefined
  readonly isOpen: boolean
  /** What came of the last attempt that was settled: its failure, or that it answered. `undefined`: there was none. For people, not for decisions. */
  readonly lastOutcome: FailureClass | 'answered' | undefined
  /** An attempt begins. `true`: the breaker has been open long enough, and this attempt is its probe; others are held off until it is settled. */
  begin(): boolean
  /** The upstream has begun to answer: a probe succeeded, although the answer may still be cut. */
  answered(): void
  succeeded(): void
  failed(failure: UpstreamFailure, isProbe: boolean): void
  /** The attempt came to nothing for reasons of ours or of the caller's. */
  abandoned(isProbe: boolean): void
}

interface Bucket { second: number; successes: number; failures: number }

/**
 * A circuit in its closed state.
 * @param now milliseconds on a monotonic clock
 * @param random 0 to 1, for the jitter of ±20 %
 */
export function circuit(now: () => number, random: () => number = Math.random): Circuit {
  const buckets: Bucket[] = []
  let consecutive = 0
  let openMs = 0
  let openUntil = 0
  let isOpen = false
  let isProbing = false
  let retryAfterUntil = 0
  let coolDownUntil = 0
  let lastClass: FailureClass | undefined
  let sameClass = 0
  let hasAnswered = false
  let rateLimitMs = 0

  function count(kind: 'successes' | 'failures'): void {
    const second = Math.floor(now() / bucketMs)
    let bucket = buckets.at(-1)
    if (bucket?.second !== second) {
      bucket = { second, successes: 0, failures: 0 }
      buckets.push(bucket)
      if (buckets.length > windowMs / bucketMs) buckets.shift()
    }
    bucket[kind] += 1
  }

  function isFailingOften(): boolean {
    const oldest = Math.floor((now() - windowMs) / bucketMs)
    let successes = 0
    let failures = 0
    for (const bucket of buckets) {
      if (bucket.second <= oldest) continue
      successes += bucket.successes
      failures += bucket.failures
    }
    const total = successes + failures
    return total >= windowFailuresMin && failures * 2 >= total
  }

  function open(): void {
    openMs = openMs === 0 ? openMsFirst : Math.min(openMs * 2, openMsMost)
    openUntil = now() + openMs * (0.8 + 0.4 * random())
    isOpen = true
    isProbing = false
  }

  function close(): void {
    isOpen = false
    isProbing = false
    openMs = 0
    consecutive = 0
    buckets.length = 0
  }

  function coolDown(failure: UpstreamFailure): void {
    sameClass = lastClass === failure.failure ? sameClass + 1 : 1
    lastClass = failure.failure
    const effect = failureEffects[failure.failure]
    if (failure.retryAfterMs !== undefined && (failure.failure === 'rate_limit' || failure.failure === 'overloaded')) {
      retryAfterUntil = Math.max(retryAfterUntil, now() + failure.retryAfterMs)
      return
    }
    if (sameClass < coolDownFrom) return
    if (failure.failure === 'rate_limit') {
      rateLimitMs = rateLimitMs === 0 ? rateLimitMsFirst : Math.min(rateLimitMs * 2, rateLimitMsMost)
      coolDownUntil = now() + rateLimitMs
    } else if (effect.coolDownMs > 0) {
      coolDownUntil = now() + effect.coolDownMs
    }
  }

  return {
    unavailable() {
      const time = now()
      if (retryAfterUntil > time) return { reason: 'retry_after', remainingMs: retryAfterUntil - time }
      if (isOpen && openUntil > time) return { reason: 'open', remainingMs: openUntil - time }
      if (isOpen && isProbing) return { reason: 'open', remainingMs: bucketMs }
      if (coolDownUntil > time) return { reason: 'cool_down', remainingMs: coolDownUntil - time }
      return undefined
    },
    get isOpen() { return isOpen },
    get lastOutcome() { return lastClass ?? (hasAnswered ? 'answered' : undefined) },
    begin() {
      if (!isOpen || isProbing || openUntil > now()) return false
      isProbing = true
      return true
    },
    answered() {
      if (isOpen) close()
    },
    succeeded() {
      if (isOpen) close()
      count('successes')
      consecutive = 0
      sameClass = 0
      lastClass = undefined
      hasAnswered = true
      rateLimitMs = 0
      coolDownUntil = 0
    },
    failed(failure, isProbe) {
      coolDown(failure)
      if (!failureEffects[failure.failure].breaker) {
        if (isProbe) isProbing = false
        return
      }
      consecutive += 1
      count('failures')
      if (isOpen ? openUntil <= now() : consecutive >= consecutiveMax || isFailingOften()) open()
    },
    abandoned(isProbe) {
      if (isProbe) isProbing = false
    },
  }
}
