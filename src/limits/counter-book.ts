import { isIdle, newCounter, type LimitCounter, type CounterSpec } from './counter.ts'

const firstSweepAt = 1_024

/** Counters by their keys. When their number has doubled, those that are full again are forgotten. */
export class CounterBook {
  readonly #countersMax: number
  readonly #make: (spec: CounterSpec) => LimitCounter
  readonly #counters = new Map<string, LimitCounter>()
  #sweepAt: number

  /**
   * @param countersMax above it, counters that no request uses are forgotten, those not looked up for longest first.
   *   Default 100,000
   * @param make makes a counter. Default: one that this process decides by
   */
  constructor(countersMax = 100_000, make: (spec: CounterSpec) => LimitCounter = newCounter) {
    this.#countersMax = countersMax
    this.#make = make
    this.#sweepAt = Math.min(firstSweepAt, countersMax)
  }

  get size(): number {
    return this.#counters.size
  }

  /** Finds a counter, or makes one. A changed amount or text applies to a known counter, whose state stays. */
  find(spec: CounterSpec): LimitCounter {
    const counter = this.#counters.get(spec.key) ?? this.#make(spec)
    counter.spec = spec
    // Counters of many callers are looked up often, and stay at the end.
    this.#counters.delete(spec.key)
    this.#counters.set(spec.key, counter)
    return counter
  }

  /** A counter that is there. */
  known(key: string): LimitCounter | undefined {
    return this.#counters.get(key)
  }

  /**
   * Forgets counters if there are many. Call it before counters are looked up that are then kept.
   *
   * @returns whether any was forgotten: nothing may keep counters from before
   */
  makeRoom(now: number): boolean {
    if (this.#counters.size < this.#sweepAt) return false
    for (const [key, counter] of this.#counters) if (isIdle(counter, now)) this.#counters.delete(key)
    // Making room for many at once keeps this rare.
    const max = this.#countersMax
    const keptMax = this.#counters.size >= max ? (max * 3) / 4 : max
    // Sessions go first: a caller may invent any number of them, at the cost of no other.
    for (const mayBeAny of [false, true])
      for (const [key, counter] of this.#counters) {
        if (this.#counters.size <= keptMax) break
        if ((mayBeAny || counter.spec.subject === 'each session') && counter.mayForget()) this.#counters.delete(key)
      }
    this.#sweepAt = Math.min(max, Math.max(firstSweepAt, 2 * this.#counters.size))
    return true
  }
}
