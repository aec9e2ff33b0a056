import { failureEffects, type FailureClass } from './failure.ts'
import type { HeldOff, Standing } from './health-news.ts'

const coolDownFrom = 3
const rateLimitMsFirst = 5_000
const rateLimitMsMost = 60_000

/** Retry-After and cool-downs of one circuit: from the third failure in a row of one lasting class on. */
export interface HealthPauses {
  readonly retryAfterUntil: number
  readonly coolDownUntil: number
  /** The class of the last failure, if nothing succeeded after it. */
  readonly lastClass: FailureClass | undefined
  /** How many of that class came in a row. */
  readonly sameClass: number
  /** An attempt failed, here or elsewhere. @returns whether it is held off for longer than before */
  failed(failure: FailureClass, retryAfterMs: number | undefined): boolean
  /** A success: the cool-down ends. What the upstream asked for does not. */
  forgive(): void
  /** Pauses that another process knows of hold here too. */
  takeOver(heldOff: HeldOff): void
  takeOverRow(standing: Standing): void
}

/** @param now milliseconds on a monotonic clock */
export function healthPauses(now: () => number): HealthPauses {
  let retryAfterUntil = 0
  let coolDownUntil = 0
  let lastClass: FailureClass | undefined
  let sameClass = 0
  let rateLimitMs = 0

  function coolDown(failure: FailureClass): boolean {
    if (sameClass < coolDownFrom) return false
    if (failure === 'rate_limit') rateLimitMs = rateLimitMs === 0 ? rateLimitMsFirst : Math.min(rateLimitMs * 2, rateLimitMsMost)
    const ms = failure === 'rate_limit' ? rateLimitMs : failureEffects[failure].coolDownMs
    if (ms > 0) coolDownUntil = now() + ms
    return ms > 0
  }

  return {
    get retryAfterUntil() { return retryAfterUntil },
    get coolDownUntil() { return coolDownUntil },
    get lastClass() { return lastClass },
    get sameClass() { return sameClass },
    failed(failure, retryAfterMs) {
      sameClass = lastClass === failure ? sameClass + 1 : 1
      lastClass = failure
      if (retryAfterMs === undefined || (failure !== 'rate_limit' && failure !== 'overloaded')) return coolDown(failure)
      const before = Math.max(retryAfterUntil, now())
      retryAfterUntil = Math.max(retryAfterUntil, now() + retryAfterMs)
      return retryAfterUntil > before
    },
    forgive() {
      sameClass = 0
      lastClass = undefined
      rateLimitMs = 0
      coolDownUntil = 0
    },
    takeOver({ retryAfterMs = 0, coolDownMs = 0 }) {
      retryAfterUntil = Math.max(retryAfterUntil, now() + retryAfterMs)
      coolDownUntil = Math.max(coolDownUntil, now() + coolDownMs)
    },
    takeOverRow({ failure, sameClass: told }) {
      if (failure === undefined || (lastClass !== undefined && lastClass !== failure)) return
      lastClass = failure
      sameClass = Math.max(sameClass, told)
    },
  }
}
