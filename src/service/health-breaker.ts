import { probeMsMost, openMsMost, type HeldOff } from './health-news.ts'
import { HealthWindow } from './health-window.ts'

const consecutiveMax = 5
const openMsFirst = 5_000

/**
 * The circuit breaker of one circuit (failover.md, "Breaker"), closed at first. A class, since there may be one for
 * each of 10,000 models.
 */
export class HealthBreaker {
  readonly #now: () => number
  readonly #random: () => number
  /**
   * This process's own attempts only: most successes elsewhere are not told, so failures elsewhere would distort the
   * ratio.
   */
  readonly #recent: HealthWindow
  #row = 0
  #stepMs = 0
  #openUntil = 0
  #isOpen = false
  #probesHere = false
  #probedElsewhereUntil = 0

  /**
   * @param now milliseconds on a monotonic clock
   * @param random 0 to 1, for the jitter of ±20 %
   */
  constructor(now: () => number, random: () => number) {
    this.#now = now
    this.#random = random
    this.#recent = new HealthWindow(now)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }
  /** Meaningful while it is open. */
  get openUntil(): number {
    return this.#openUntil
  }
  /** Its time before jitter; the next is twice as long. */
  get stepMs(): number {
    return this.#stepMs
  }
  /** Failures in a row, of all processes. */
  get row(): number {
    return this.#row
  }
  /** Its probe is under way, in this process or in another. */
  get isProbing(): boolean {
    return this.#probesHere || this.#probedElsewhereUntil > this.#now()
  }

  /** @returns whether this attempt is its probe */
  begin(): boolean {
    if (!this.#isOpen || this.#probesHere || Math.max(this.#openUntil, this.#probedElsewhereUntil) > this.#now())
      return false
    this.#probesHere = true
    return true
  }

  close(): void {
    this.#isOpen = false
    this.#endProbes()
    this.#stepMs = 0
    this.#row = 0
    this.#recent.clear()
  }

  succeeded(): void {
    this.heardSuccess()
    this.succeededLate()
  }

  /** What had begun to answer before others were refused ended well. */
  succeededLate(): void {
    this.#recent.count('successes')
  }

  /** @returns whether this failure opened it */
  failed(): boolean {
    this.#row += 1
    this.#recent.count('failures')
    if (this.#isOpen ? this.#openUntil > this.#now() : this.#row < consecutiveMax && !this.#recent.isFailingOften())
      return false
    this.#open(0.8 + 0.4 * this.#random())
    return true
  }

  /** The probe came to nothing. @returns whether one was under way here */
  giveUpProbe(): boolean {
    const wasProbing = this.#probesHere
    this.#probesHere = false
    return wasProbing
  }

  /** An attempt failed in another process. */
  heardFailure(): void {
    this.#row += 1
    // Who told it had not heard of all failures yet. Everybody arrives at this by counting, hence no jitter.
    if (!this.#isOpen && this.#row >= consecutiveMax) this.#open(1)
  }

  heardSuccess(): void {
    if (this.#isOpen) this.close()
    this.#row = 0
  }

  /** `false`: the probe of another process came to nothing. */
  heardProbe(isUnderWay: boolean): void {
    this.#probedElsewhereUntil = isUnderWay ? this.#now() + probeMsMost : 0
  }

  /** Another process opened its own, or counted so many failures in a row. */
  takeOver(breaker: HeldOff['breaker'], row = 0): void {
    this.#row = Math.max(this.#row, row)
    if (breaker === undefined) return
    this.#openUntil = Math.max(this.#isOpen ? this.#openUntil : 0, this.#now() + breaker.remainingMs)
    this.#stepMs = Math.max(this.#stepMs, breaker.stepMs, openMsFirst)
    this.#isOpen = true
    if (breaker.remainingMs > 0) this.#endProbes()
  }

  #open(jitter: number): void {
    this.#stepMs = this.#stepMs === 0 ? openMsFirst : Math.min(this.#stepMs * 2, openMsMost)
    this.#openUntil = this.#now() + this.#stepMs * jitter
    this.#isOpen = true
    this.#endProbes()
  }

  #endProbes(): void {
    this.#probesHere = false
    this.#probedElsewhereUntil = 0
  }
}
