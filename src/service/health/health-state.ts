import { failureEffects, type FailureClass, type UpstreamFailure } from '../failure.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { CoolDown } from './cool-down.ts'
import { isShared, type HealthChange, type Restrictions, type SnapshotEvent } from './health-event.ts'

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
  return new TargetHealth(now, random, publish)
}

class TargetHealth implements HealthState {
  readonly #now: () => number
  readonly #publish: ((event: HealthChange) => void) | undefined
  readonly #breaker: CircuitBreaker
  readonly #coolDown: CoolDown
  #hasSucceeded = false
  /**
   * Other processes may know of failures, so the next success here is published. A success elsewhere does not reset
   * this: a failure may have crossed it.
   */
  #isSuspect = false
  /** When an attempt here last started to answer, and when one last failed before an answer, here or elsewhere. */
  #answeredAt = -Infinity
  #refusedAt = -Infinity

  constructor(now: () => number, random: () => number = Math.random, publish?: (event: HealthChange) => void) {
    this.#now = now
    this.#publish = publish
    this.#breaker = new CircuitBreaker(now, random)
    this.#coolDown = new CoolDown(now)
  }

  abandoned(isProbe: boolean): void {
    if (isProbe && this.#breaker.abandonProbe()) this.#publish?.({ kind: 'probe_over' })
  }

  unavailable():
    | { reason: 'retry_after'; remainingMs: number }
    | { reason: 'open'; remainingMs: number }
    | { reason: 'cool_down'; remainingMs: number }
    | undefined {
    const time = this.#now()
    const { retryAfterUntil, coolDownUntil } = this.#coolDown
    if (retryAfterUntil > time) return { reason: 'retry_after', remainingMs: retryAfterUntil - time }
    if (this.#breaker.isOpen && this.#breaker.openUntil > time)
      return { reason: 'open', remainingMs: this.#breaker.openUntil - time }
    if (this.#breaker.isOpen && this.#breaker.isProbing) return { reason: 'open', remainingMs: waitMs }
    if (coolDownUntil > time) return { reason: 'cool_down', remainingMs: coolDownUntil - time }
    return undefined
  }

  get isOpen() {
    return this.#breaker.isOpen
  }

  get lastOutcome() {
    return this.#coolDown.lastClass ?? (this.#hasSucceeded ? 'answered' : undefined)
  }

  begin(): boolean {
    const isProbe = this.#breaker.begin()
    if (isProbe) this.#publish?.({ kind: 'probing' })
    return isProbe
  }

  answered(): void {
    this.#answeredAt = this.#now()
    if (!this.#breaker.isOpen) return
    this.#breaker.close()
    this.#publish?.({ kind: 'answered', ...this.#restrictions() })
  }

  succeeded(hasAnswered = false): void {
    if (hasAnswered && this.#answeredAt < this.#refusedAt) return this.#breaker.countSuccess()
    this.#breaker.succeeded()
    this.#coolDown.end()
    this.#hasSucceeded = true
    if (!this.#isSuspect) return
    this.#isSuspect = false
    this.#publish?.({ kind: 'succeeded', ...this.#restrictions() })
  }

  failed(
    { failure, retryAfterMs }: Pick<UpstreamFailure, 'failure' | 'retryAfterMs'>,
    isProbe: boolean,
    hasAnswered = false,
  ): void {
    const isExtended = this.#coolDown.failed(failure, retryAfterMs)
    const counts = failureEffects[failure].breaker
    const hasOpened = counts && this.#breaker.failed()
    if (!counts) this.abandoned(isProbe)
    if (!isShared(failure)) return
    this.#isSuspect = true
    if (!hasAnswered) this.#noteRefusal(failure)
    this.#publish?.({
      kind: 'failed',
      failure,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(isExtended || hasOpened ? this.#restrictions() : {}),
    })
  }

  rest(failure: FailureClass): void {
    this.#coolDown.rest(failure)
    this.#publishRestrictions(failure)
  }

  retrying({ failure, retryAfterMs }: Pick<UpstreamFailure, 'failure' | 'retryAfterMs'>): void {
    if (retryAfterMs !== undefined && this.#coolDown.waitFor(retryAfterMs)) this.#publishRestrictions(failure)
  }

  apply(event: HealthChange): void {
    switch (event.kind) {
      case 'failed':
        this.#isSuspect = true
        this.#noteRefusal(event.failure)
        this.#coolDown.failed(event.failure, event.retryAfterMs)
        this.#coolDown.merge(event.restrictions)
        // Before counting, so that the sender's jitter applies to a breaker that this failure opens.
        this.#breaker.merge(event.restrictions?.breaker)
        if (failureEffects[event.failure].breaker) this.#breaker.failedElsewhere()
        return
      case 'snapshot':
        this.#isSuspect = true
        this.#noteRefusal(event.failure)
        this.#coolDown.merge(event.restrictions)
        this.#coolDown.mergeFailures(event)
        this.#breaker.merge(event.restrictions?.breaker, event.consecutiveFailures)
        return
      case 'answered':
        if (this.#breaker.isOpen) this.#breaker.close()
        return this.#coolDown.merge(event.restrictions)
      case 'succeeded':
        this.#breaker.succeededElsewhere()
        this.#coolDown.end()
        this.#hasSucceeded = true
        return this.#coolDown.merge(event.restrictions)
      case 'probing':
        return this.#breaker.probedElsewhere(true)
      case 'probe_over':
        return this.#breaker.probedElsewhere(false)
    }
  }

  snapshot(): (SnapshotEvent | { kind: 'probing' })[] {
    const { lastClass, consecutiveOfClass } = this.#coolDown
    const { consecutiveFailures } = this.#breaker
    const current = this.#restrictions()
    const last =
      lastClass !== undefined && isShared(lastClass)
        ? { failure: lastClass, consecutiveOfClass }
        : { consecutiveOfClass: 0 }
    if (consecutiveFailures === 0 && last.consecutiveOfClass === 0 && current.restrictions === undefined) return []
    const event: HealthChange = { kind: 'snapshot', consecutiveFailures, ...last, ...current }
    return this.#breaker.isOpen && this.#breaker.isProbing ? [event, { kind: 'probing' }] : [event]
  }

  #restrictions(): { readonly restrictions?: Restrictions } {
    const time = this.#now()
    const retryAfterMs = this.#coolDown.retryAfterUntil - time
    const coolDownMs = this.#coolDown.coolDownUntil - time
    if (retryAfterMs <= 0 && coolDownMs <= 0 && !this.#breaker.isOpen) return {}
    return {
      restrictions: {
        ...(retryAfterMs > 0 ? { retryAfterMs } : {}),
        ...(coolDownMs > 0 ? { coolDownMs } : {}),
        ...(this.#breaker.isOpen
          ? { breaker: { remainingMs: Math.max(0, this.#breaker.openUntil - time), stepMs: this.#breaker.stepMs } }
          : {}),
      },
    }
  }

  /**
   * Failures after which older streams say nothing about the upstream. Not rate limits, which the end of a stream may
   * lift, and not cuts, which come after an answer.
   */
  #noteRefusal(failure: FailureClass | undefined): void {
    if (failure !== 'rate_limit' && failure !== 'cut') this.#refusedAt = this.#now()
  }

  /** Publishes the current restrictions, without a failure that counts. */
  #publishRestrictions(failure: FailureClass): void {
    this.#isSuspect = true
    const { consecutiveFailures } = this.#breaker
    this.#publish?.({ kind: 'snapshot', consecutiveFailures, failure, consecutiveOfClass: 0, ...this.#restrictions() })
  }
}
