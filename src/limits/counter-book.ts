import { isIdle, newCounter, type LimitCounter, type CounterSpec } from './counter.ts'

/** Counters by their keys. */
export interface CounterBook {
  /** Finds a counter, or makes one. A changed amount or text applies to a known counter, whose state stays. */
  find(spec: CounterSpec): LimitCounter
  /**
   * Forgets counters if there are many. Call it before counters are looked up that are then kept.
   *
   * @returns whether any was forgotten: nothing may keep counters from before
   */
  makeRoom(now: number): boolean
  /** A counter that is there. */
  known(key: string): LimitCounter | undefined
  readonly size: number
}

const firstSweepAt = 1_024

/**
 * An empty book. When the number of counters has doubled, it forgets those that are full again.
 *
 * @param countersMax above it, counters that no request uses are forgotten, those not looked up for longest first.
 *   Default 100,000
 * @param make makes a counter. Default: one that this process decides by
 */
export function counterBook(
  countersMax = 100_000,
  make: (spec: CounterSpec) => LimitCounter = newCounter,
): CounterBook {
  const counters = new Map<string, LimitCounter>()
  let sweepAt = Math.min(firstSweepAt, countersMax)

  return {
    find(spec) {
      const counter = counters.get(spec.key) ?? make(spec)
      counter.spec = spec
      // Counters of many callers are looked up often, and stay at the end.
      counters.delete(spec.key)
      counters.set(spec.key, counter)
      return counter
    },
    makeRoom(now) {
      if (counters.size < sweepAt) return false
      for (const [key, counter] of counters) if (isIdle(counter, now)) counters.delete(key)
      // Making room for many at once keeps this rare.
      const keptMax = counters.size >= countersMax ? (countersMax * 3) / 4 : countersMax
      for (const [key, counter] of counters) {
        if (counters.size <= keptMax) break
        if (counter.mayForget()) counters.delete(key)
      }
      sweepAt = Math.min(countersMax, Math.max(firstSweepAt, 2 * counters.size))
      return true
    },
    known: (key) => counters.get(key),
    get size() {
      return counters.size
    },
  }
}
