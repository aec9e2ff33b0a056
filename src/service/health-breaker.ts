import { probeMsMost, openMsMost, type HeldOff } from './health-news.ts'
import { healthWindow } from './health-window.ts'

const consecutiveMax = 5
const openMsFirst = 5_000

/** The circuit breaker of one circuit (failover.md, "Breaker"). */
export interface HealthBreaker {
  readonly isOpen: boolean
  /** Meaningful while it is open. */
  readonly openUntil: number
  /** Its time before jitter; the next is twice as long. */
  readonly stepMs: number
  /** Failures in a row, of all processes. */
  readonly row: number
  /** Its probe is under way, in this process or in another. */
  isProbing(): boolean
  /** @returns whether this attempt is its probe */
  begin(): boolean
  close(): void
  succeeded(): void
  /** @returns whether this failure opened it */
  failed(): boolean
  /** The probe came to nothing. @returns whether one was under way here */
  giveUpProbe(): boolean
  /** An attempt failed in another process. */
  heardFailure(): void
  heardSuccess(): void
  /** `false`: the probe of another process came to nothing. */
  heardProbe(isUnderWay: boolean): void
  /** Another process opened its own, or counted so many failures in a row. */
  takeOver(breaker: HeldOff['breaker'], toldRow?: number): void
}

/**
 * A breaker in its closed state.
 * @param now milliseconds on a monotonic clock
 * @param random 0 to 1, for the jitter of ±20 %
 */
export function healthBreaker(now: () => number, random: () => number): HealthBreaker {
  /** This process's own attempts only: most successes elsewhere are not told, so failures elsewhere would distort the ratio. */
  const recent = healthWindow(now)
  let row = 0
  let stepMs = 0
  let openUntil = 0
  let isOpen = false
  let probesHere = false
  let probedElsewhereUntil = 0

  function open(jitter: number): void {
    stepMs = stepMs === 0 ? openMsFirst : Math.min(stepMs * 2, openMsMost)
    openUntil = now() + stepMs * jitter
    isOpen = true
    endProbes()
  }

  function endProbes(): void {
    probesHere = false
    probedElsewhereUntil = 0
  }

  function close(): void {
    isOpen = false
    endProbes()
    stepMs = 0
    row = 0
    recent.clear()
  }

  function heardSuccess(): void {
    if (isOpen) close()
    row = 0
  }

  return {
    get isOpen() { return isOpen },
    get openUntil() { return openUntil },
    get stepMs() { return stepMs },
    get row() { return row },
    isProbing: () => probesHere || probedElsewhereUntil > now(),
    begin() {
      if (!isOpen || probesHere || Math.max(openUntil, probedElsewhereUntil) > now()) return false
      probesHere = true
      return true
    },
    close,
    succeeded() {
      heardSuccess()
      recent.count('successes')
    },
    failed() {
      row += 1
      recent.count('failures')
      if (isOpen ? openUntil > now() : row < consecutiveMax && !recent.isFailingOften()) return false
      open(0.8 + 0.4 * random())
      return true
    },
    giveUpProbe() {
      const wasProbing = probesHere
      probesHere = false
      return wasProbing
    },
    heardFailure() {
      row += 1
      // Who told it had not heard of all failures yet. Everybody arrives at this by counting, hence no jitter.
      if (!isOpen && row >= consecutiveMax) open(1)
    },
    heardSuccess,
    heardProbe(isUnderWay) {
      probedElsewhereUntil = isUnderWay ? now() + probeMsMost : 0
    },
    takeOver(breaker, toldRow = 0) {
      row = Math.max(row, toldRow)
      if (breaker === undefined) return
      openUntil = Math.max(isOpen ? openUntil : 0, now() + breaker.remainingMs)
      stepMs = Math.max(stepMs, breaker.stepMs, openMsFirst)
      isOpen = true
      if (breaker.remainingMs > 0) endProbes()
    },
  }
}
