import { openMsMax, probeMsMax, type Restrictions } from './health-event.ts'

const consecutiveMax = 5
const openMsFirst = 5_000

/**
 * The circuit breaker of one provider, or of one model at it (failover.md, "Breaker"), closed at first. A class, since
 * there may be one for each of 10,000 models.
 */
export class CircuitBreaker {
  readonly #now: () => number
  readonly #random: () => number
  /** Attempts of this process only: most successes elsewhere are not published, so the ratio would be wrong. */
  readonly #window: FailureWindow
  #consecutiveFailures = 0
  #stepMs = 0
  #openUntil = 0
  #isOpen = false
  #isProbingHere = false
  #probingElsewhereUntil = 0

  /**
   * @param now milliseconds on a monotonic clock
   * @param random 0 to 1, for the jitter of ±20 %
   */
  constructor(now: () => number, random: () => number) {
    this.#now = now
    this.#random = random
    this.#window = new FailureWindow(now)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }
  /** Meaningful while it is open. */
  get openUntil(): number {
    return this.#openUntil
  }
  /** Its time before jitter; it doubles each time. */
  get stepMs(): number {
    return this.#stepMs
  }
  /** Consecutive failures over all processes. */
  get consecutiveFailures(): number {
    return this.#consecutiveFailures
  }
  /** A probe has started, here or in another process, and not ended. */
  get isProbing(): boolean {
    return this.#isProbingHere || this.#probingElsewhereUntil > this.#now()
  }

  /** Starts an attempt. @returns whether it is the probe */
  begin(): boolean {
    const probeFrom = Math.max(this.#openUntil, this.#probingElsewhereUntil)
    if (!this.#isOpen || this.#isProbingHere || probeFrom > this.#now()) return false
    this.#isProbingHere = true
    return true
  }

  close(): void {
    this.#isOpen = false
    this.#endProbes()
    this.#stepMs = 0
    this.#consecutiveFailures = 0
    this.#window.clear()
  }

  succeeded(): void {
    this.succeededElsewhere()
    this.countSuccess()
  }

  /** Counts a success for the ratio only. */
  countSuccess(): void {
    this.#window.count('successes')
  }

  /** @returns whether this failure opened it */
  failed(): boolean {
    this.#consecutiveFailures += 1
    this.#window.count('failures')
    if (this.#isOpen ? this.#openUntil > this.#now() : !this.#hasReason()) return false
    this.#open(0.8 + 0.4 * this.#random())
    return true
  }

  /** The probe ended without an outcome. @returns whether this process had one */
  abandonProbe(): boolean {
    const wasProbing = this.#isProbingHere
    this.#isProbingHere = false
    return wasProbing
  }

  /** An attempt failed in another process. */
  failedElsewhere(): void {
    this.#consecutiveFailures += 1
    // The failures of all processes together open the breaker. Without jitter, since each process counts them itself
    // and all breakers shall end at the same time.
    if (!this.#isOpen && this.#consecutiveFailures >= consecutiveMax) this.#open(1)
  }

  succeededElsewhere(): void {
    if (this.#isOpen) this.close()
    this.#consecutiveFailures = 0
  }

  /** The probe of another process started, or ended without an outcome. */
  probedElsewhere(isProbing: boolean): void {
    this.#probingElsewhereUntil = isProbing ? this.#now() + probeMsMax : 0
  }

  /** Applies the breaker and the consecutive failures of another process. Larger values here remain. */
  merge(breaker: Restrictions['breaker'], consecutiveFailures = 0): void {
    this.#consecutiveFailures = Math.max(this.#consecutiveFailures, consecutiveFailures)
    if (breaker === undefined) return
    this.#openUntil = Math.max(this.#isOpen ? this.#openUntil : 0, this.#now() + breaker.remainingMs)
    this.#stepMs = Math.max(this.#stepMs, breaker.stepMs, openMsFirst)
    this.#isOpen = true
    if (breaker.remainingMs > 0) this.#endProbes()
  }

  #hasReason(): boolean {
    return this.#consecutiveFailures >= consecutiveMax || this.#window.isFailingOften()
  }

  #open(jitter: number): void {
    this.#stepMs = this.#stepMs === 0 ? openMsFirst : Math.min(this.#stepMs * 2, openMsMax)
    this.#openUntil = this.#now() + this.#stepMs * jitter
    this.#isOpen = true
    this.#endProbes()
  }

  #endProbes(): void {
    this.#isProbingHere = false
    this.#probingElsewhereUntil = 0
  }
}

const windowMs = 30_000
const bucketMs = 1_000
const failuresMin = 20

interface Bucket {
  second: number
  successes: number
  failures: number
}

/**
 * Successes and failures of the last 30 s, by the second. A class, since there may be one for each of 10,000 models.
 */
class FailureWindow {
  readonly #buckets: Bucket[] = []
  readonly #now: () => number

  /** @param now milliseconds on a monotonic clock */
  constructor(now: () => number) {
    this.#now = now
  }

  count(kind: 'successes' | 'failures'): void {
    const second = Math.floor(this.#now() / bucketMs)
    let bucket = this.#buckets.at(-1)
    if (bucket?.second !== second) {
      bucket = { second, successes: 0, failures: 0 }
      this.#buckets.push(bucket)
      if (this.#buckets.length > windowMs / bucketMs) this.#buckets.shift()
    }
    bucket[kind] += 1
  }

  /** Half or more of at least 20 attempts failed. */
  isFailingOften(): boolean {
    const oldest = Math.floor((this.#now() - windowMs) / bucketMs)
    let successes = 0
    let failures = 0
    for (const bucket of this.#buckets) {
      if (bucket.second <= oldest) continue
      successes += bucket.successes
      failures += bucket.failures
    }
    const total = successes + failures
    return total >= failuresMin && failures * 2 >= total
  }

  clear(): void {
    this.#buckets.length = 0
  }
}
