import { type FailureClass, failureEffects } from '../failure.ts'
import type { Restrictions, SnapshotEvent } from './health-event.ts'

/** Consecutive failures of one lasting class that start a cool-down. */
const failuresMin = 3
/** Classes whose named wait counts at once. */
const waiting: ReadonlySet<FailureClass> = new Set(['rate_limit', 'overloaded', 'quota'])
const rateLimitMsFirst = 5_000
const rateLimitMsMax = 60_000

/**
 * Retry-After and cool-downs of one provider, or of one model at it. A class, since there may be one for each of 10,000
 * models.
 */
export class CoolDown {
  readonly #now: () => number
  #retryAfterUntil = 0
  #coolDownUntil = 0
  #lastClass: FailureClass | undefined
  #consecutiveOfClass = 0
  #rateLimitMs = 0

  /** @param now milliseconds on a monotonic clock */
  constructor(now: () => number) {
    this.#now = now
  }

  get retryAfterUntil(): number {
    return this.#retryAfterUntil
  }
  get coolDownUntil(): number {
    return this.#coolDownUntil
  }
  /** Class of the last failure; `undefined` after a success. */
  get lastClass(): FailureClass | undefined {
    return this.#lastClass
  }
  /** Consecutive failures of {@link lastClass}. */
  get consecutiveOfClass(): number {
    return this.#consecutiveOfClass
  }

  /** An attempt failed, here or elsewhere. @returns whether this started or extended a Retry-After or a cool-down */
  failed(failure: FailureClass, retryAfterMs: number | undefined): boolean {
    this.#consecutiveOfClass = this.#lastClass === failure ? this.#consecutiveOfClass + 1 : 1
    this.#lastClass = failure
    return retryAfterMs === undefined || !waiting.has(failure) ? this.#coolDown(failure) : this.waitFor(retryAfterMs)
  }

  /** Starts the cool-down of a class. */
  rest(failure: FailureClass): void {
    this.#lastClass = failure
    this.#coolDownUntil = Math.max(this.#coolDownUntil, this.#now() + failureEffects[failure].coolDownMs)
  }

  /** The upstream sent a Retry-After. @returns whether it extends the current one */
  waitFor(retryAfterMs: number): boolean {
    const before = Math.max(this.#retryAfterUntil, this.#now())
    this.#retryAfterUntil = Math.max(this.#retryAfterUntil, this.#now() + retryAfterMs)
    return this.#retryAfterUntil > before
  }

  /** Ends the cool-down after a success. A Retry-After continues. */
  end(): void {
    this.#consecutiveOfClass = 0
    this.#lastClass = undefined
    this.#rateLimitMs = 0
    this.#coolDownUntil = 0
  }

  /** Applies the restrictions of another process; longer ones here remain. */
  merge({ retryAfterMs = 0, coolDownMs = 0 }: Restrictions = {}): void {
    this.#retryAfterUntil = Math.max(this.#retryAfterUntil, this.#now() + retryAfterMs)
    this.#coolDownUntil = Math.max(this.#coolDownUntil, this.#now() + coolDownMs)
  }

  /** Applies the consecutive failures of another process; a higher number here, or another class, remains. */
  mergeFailures({ failure, consecutiveOfClass }: SnapshotEvent): void {
    if (failure === undefined || (this.#lastClass !== undefined && this.#lastClass !== failure)) return
    this.#lastClass = failure
    this.#consecutiveOfClass = Math.max(this.#consecutiveOfClass, consecutiveOfClass)
  }

  #coolDown(failure: FailureClass): boolean {
    if (this.#consecutiveOfClass < failuresMin) return false
    if (failure === 'rate_limit')
      this.#rateLimitMs = this.#rateLimitMs === 0 ? rateLimitMsFirst : Math.min(this.#rateLimitMs * 2, rateLimitMsMax)
    const ms = failure === 'rate_limit' ? this.#rateLimitMs : failureEffects[failure].coolDownMs
    if (ms > 0) this.#coolDownUntil = this.#now() + ms
    return ms > 0
  }
}

/** Refusals of the key that start a cool-down. */
const refusalsMin = 3

/**
 * Refusals of a provider's key by a status alone, since its last success. They may concern one request or one model: a
 * second model, a second caller or the list of models has to confirm them.
 */
export class KeyDoubts {
  #refusals = 0
  #model: string | undefined
  #callerId: string | undefined
  #isConfirmed = false

  /** Takes a refusal. @returns whether the whole provider is to rest */
  confirm(model: string, callerId: string): boolean {
    this.#refusals += 1
    this.#isConfirmed ||= model !== (this.#model ??= model) || callerId !== (this.#callerId ??= callerId)
    return this.#isConfirmed && this.#refusals >= refusalsMin
  }

  /** The list of models was refused too. */
  confirmByList(): void {
    this.#isConfirmed = true
  }

  /** The provider accepts the key. */
  clear(): void {
    if (this.#refusals === 0 && !this.#isConfirmed) return
    this.#refusals = 0
    this.#isConfirmed = false
    this.#model = this.#callerId = undefined
  }
}
