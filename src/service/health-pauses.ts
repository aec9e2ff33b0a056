import { failureEffects, type FailureClass } from './failure.ts'
import type { HeldOff, Standing } from './health-news.ts'

const coolDownFrom = 3
const rateLimitMsFirst = 5_000
const rateLimitMsMost = 60_000

/**
 * Retry-After and cool-downs of one circuit: from the third failure in a row of one lasting class on. A class, since
 * there may be one for each of 10,000 models.
 */
export class HealthPauses {
  readonly #now: () => number
  #retryAfterUntil = 0
  #coolDownUntil = 0
  #lastClass: FailureClass | undefined
  #sameClass = 0
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
  /** The class of the last failure, if nothing succeeded after it. */
  get lastClass(): FailureClass | undefined {
    return this.#lastClass
  }
  /** How many of that class came in a row. */
  get sameClass(): number {
    return this.#sameClass
  }

  /** An attempt failed, here or elsewhere. @returns whether it is held off for longer than before */
  failed(failure: FailureClass, retryAfterMs: number | undefined): boolean {
    this.#sameClass = this.#lastClass === failure ? this.#sameClass + 1 : 1
    this.#lastClass = failure
    if (retryAfterMs === undefined || (failure !== 'rate_limit' && failure !== 'overloaded'))
      return this.#coolDown(failure)
    const before = Math.max(this.#retryAfterUntil, this.#now())
    this.#retryAfterUntil = Math.max(this.#retryAfterUntil, this.#now() + retryAfterMs)
    return this.#retryAfterUntil > before
  }

  /** A success: the cool-down ends. What the upstream asked for does not. */
  forgive(): void {
    this.#sameClass = 0
    this.#lastClass = undefined
    this.#rateLimitMs = 0
    this.#coolDownUntil = 0
  }

  /** Pauses that another process knows of hold here too. */
  takeOver({ retryAfterMs = 0, coolDownMs = 0 }: HeldOff): void {
    this.#retryAfterUntil = Math.max(this.#retryAfterUntil, this.#now() + retryAfterMs)
    this.#coolDownUntil = Math.max(this.#coolDownUntil, this.#now() + coolDownMs)
  }

  /** Another process counted so many of one class in a row. */
  takeOverRow({ failure, sameClass }: Standing): void {
    if (failure === undefined || (this.#lastClass !== undefined && this.#lastClass !== failure)) return
    this.#lastClass = failure
    this.#sameClass = Math.max(this.#sameClass, sameClass)
  }

  #coolDown(failure: FailureClass): boolean {
    if (this.#sameClass < coolDownFrom) return false
    if (failure === 'rate_limit')
      this.#rateLimitMs = this.#rateLimitMs === 0 ? rateLimitMsFirst : Math.min(this.#rateLimitMs * 2, rateLimitMsMost)
    const ms = failure === 'rate_limit' ? this.#rateLimitMs : failureEffects[failure].coolDownMs
    if (ms > 0) this.#coolDownUntil = this.#now() + ms
    return ms > 0
  }
}
