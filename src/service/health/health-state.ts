import { failureEffects, type FailureClass, type UpstreamFailure } from '../failure.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { CoolDown } from './cool-down.ts'
import { isShared, type HealthChange, type Restrictions } from './health-event.ts'

const waitMs = 1_000

/** Why an upstream is unavailable, and for how much longer. */
export interface Unavailability {
  /**
   * `retry_after`: its Retry-After has not passed. `open`: its breaker is open, or its probe has not ended.
   * `cool_down`: it failed three times in a row for a lasting reason. `full`: it is at its concurrency limit.
   */
  readonly reason: 'retry_after' | 'open' | 'cool_down' | 'full'
  readonly remainingMs: number
}

/**
 * The health of one provider, or of one model at it: circuit breaker, cool-downs and Retry-After (failover.md, rule 2
 * and "Breaker").
 */
export interface HealthState {
  unavailable(): Unavailability | undefined
  readonly isOpen: boolean
  /** Outcome of the last settled attempt, for display only; `undefined`: no attempt yet. */
  readonly lastOutcome: FailureClass | 'answered' | undefined
  /**
   * Starts an attempt.
   *
   * @returns whether it is the probe of an open breaker. No other attempt is admitted until it is settled
   */
  begin(): boolean
  /** The upstream starts to answer: a probe has succeeded, although the stream may still be cut. */
  answered(): void
  /**
   * An attempt completed. A stream that started before the last failure does not end a series of failures, unless a
   * newer attempt has started to answer.
   *
   * @param hasAnswered `answered` was called for this attempt. Default: false
   */
  succeeded(hasAnswered?: boolean): void
  /** An attempt failed. @param hasAnswered as of `succeeded`: a cut stream does not outdate older streams */
  failed(failure: Pick<UpstreamFailure, 'failure' | 'retryAfterMs'>, isProbe: boolean, hasAnswered?: boolean): void
  /** Starts the cool-down of a class without an attempt. */
  rest(failure: FailureClass): void
  /** An attempt failed and will be retried: only its Retry-After counts, for other requests. */
  retrying(failure: Pick<UpstreamFailure, 'failure' | 'retryAfterMs'>): void
  /** An attempt ended without an outcome, by the caller or by an internal error. */
  abandoned(isProbe: boolean): void
  /** Applies an event of another process, without publishing it. */
  apply(event: HealthChange): void
  /** Events that bring a new process up to date, in order. */
  snapshot(): readonly HealthChange[]
}

/**
 * Makes the state of an available provider or model.
 *
 * @param now milliseconds on a monotonic clock
 * @param random 0 to 1, for the jitter of ±20 %
 * @param publish receives events for other processes as they happen
 */
export function healthState(
  now: () => number,
  random: () => number = Math.random,
  publish?: (event: HealthChange) => void,
): HealthState {
  const breaker = new CircuitBreaker(now, random)
  const coolDown = new CoolDown(now)
  let hasSucceeded = false
  /**
   * Other processes may know of failures, so the next success here is published. A success elsewhere does not reset
   * this: a failure may have crossed it.
   */
  let isSuspect = false
  /** When an attempt here last started to answer, and when one last failed before an answer, here or elsewhere. */
  let answeredAt = -Infinity
  let refusedAt = -Infinity

  function restrictions(): { readonly restrictions?: Restrictions } {
    const time = now()
    const retryAfterMs = coolDown.retryAfterUntil - time
    const coolDownMs = coolDown.coolDownUntil - time
    if (retryAfterMs <= 0 && coolDownMs <= 0 && !breaker.isOpen) return {}
    return {
      restrictions: {
        ...(retryAfterMs > 0 ? { retryAfterMs } : {}),
        ...(coolDownMs > 0 ? { coolDownMs } : {}),
        ...(breaker.isOpen
          ? { breaker: { remainingMs: Math.max(0, breaker.openUntil - time), stepMs: breaker.stepMs } }
          : {}),
      },
    }
  }

  /**
   * Failures after which older streams say nothing about the upstream. Not rate limits, which the end of a stream may
   * lift, and not cuts, which come after an answer.
   */
  function noteRefusal(failure: FailureClass | undefined): void {
    if (failure !== 'rate_limit' && failure !== 'cut') refusedAt = now()
  }

  /** Publishes the current restrictions, without a failure that counts. */
  function publishRestrictions(failure: FailureClass): void {
    isSuspect = true
    const { consecutiveFailures } = breaker
    publish?.({ kind: 'snapshot', consecutiveFailures, failure, consecutiveOfClass: 0, ...restrictions() })
  }

  function abandon(isProbe: boolean): void {
    if (isProbe && breaker.abandonProbe()) publish?.({ kind: 'probe_over' })
  }

  return {
    unavailable() {
      const time = now()
      const { retryAfterUntil, coolDownUntil } = coolDown
      if (retryAfterUntil > time) return { reason: 'retry_after', remainingMs: retryAfterUntil - time }
      if (breaker.isOpen && breaker.openUntil > time) return { reason: 'open', remainingMs: breaker.openUntil - time }
      if (breaker.isOpen && breaker.isProbing) return { reason: 'open', remainingMs: waitMs }
      if (coolDownUntil > time) return { reason: 'cool_down', remainingMs: coolDownUntil - time }
      return undefined
    },
    get isOpen() {
      return breaker.isOpen
    },
    get lastOutcome() {
      return coolDown.lastClass ?? (hasSucceeded ? 'answered' : undefined)
    },
    begin() {
      const isProbe = breaker.begin()
      if (isProbe) publish?.({ kind: 'probing' })
      return isProbe
    },
    answered() {
      answeredAt = now()
      if (!breaker.isOpen) return
      breaker.close()
      publish?.({ kind: 'answered', ...restrictions() })
    },
    succeeded(hasAnswered = false) {
      if (hasAnswered && answeredAt < refusedAt) return breaker.countSuccess()
      breaker.succeeded()
      coolDown.end()
      hasSucceeded = true
      if (!isSuspect) return
      isSuspect = false
      publish?.({ kind: 'succeeded', ...restrictions() })
    },
    failed({ failure, retryAfterMs }, isProbe, hasAnswered = false) {
      const isExtended = coolDown.failed(failure, retryAfterMs)
      const counts = failureEffects[failure].breaker
      const hasOpened = counts && breaker.failed()
      if (!counts) abandon(isProbe)
      if (!isShared(failure)) return
      isSuspect = true
      if (!hasAnswered) noteRefusal(failure)
      publish?.({
        kind: 'failed',
        failure,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(isExtended || hasOpened ? restrictions() : {}),
      })
    },
    rest(failure) {
      coolDown.rest(failure)
      publishRestrictions(failure)
    },
    retrying({ failure, retryAfterMs }) {
      if (retryAfterMs !== undefined && coolDown.waitFor(retryAfterMs)) publishRestrictions(failure)
    },
    abandoned: abandon,
    apply(event) {
      switch (event.kind) {
        case 'failed':
          isSuspect = true
          noteRefusal(event.failure)
          coolDown.failed(event.failure, event.retryAfterMs)
          coolDown.merge(event.restrictions)
          // Before counting, so that the sender's jitter applies to a breaker that this failure opens.
          breaker.merge(event.restrictions?.breaker)
          if (failureEffects[event.failure].breaker) breaker.failedElsewhere()
          return
        case 'snapshot':
          isSuspect = true
          noteRefusal(event.failure)
          coolDown.merge(event.restrictions)
          coolDown.mergeFailures(event)
          breaker.merge(event.restrictions?.breaker, event.consecutiveFailures)
          return
        case 'answered':
          if (breaker.isOpen) breaker.close()
          return coolDown.merge(event.restrictions)
        case 'succeeded':
          breaker.succeededElsewhere()
          coolDown.end()
          hasSucceeded = true
          return coolDown.merge(event.restrictions)
        case 'probing':
          return breaker.probedElsewhere(true)
        case 'probe_over':
          return breaker.probedElsewhere(false)
      }
    },
    snapshot() {
      const { lastClass, consecutiveOfClass } = coolDown
      const { consecutiveFailures } = breaker
      const current = restrictions()
      const last =
        lastClass !== undefined && isShared(lastClass)
          ? { failure: lastClass, consecutiveOfClass }
          : { consecutiveOfClass: 0 }
      if (consecutiveFailures === 0 && last.consecutiveOfClass === 0 && current.restrictions === undefined) return []
      const event: HealthChange = { kind: 'snapshot', consecutiveFailures, ...last, ...current }
      return breaker.isOpen && breaker.isProbing ? [event, { kind: 'probing' }] : [event]
    },
  }
}
