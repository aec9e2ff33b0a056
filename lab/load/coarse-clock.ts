const tickMs = 10

/** Runs due work every 10 ms: one timer for any number of waits. */
export interface CoarseClock {
  /** Number of the current tick. */
  readonly now: number
  /** Runs `work` at a tick, or at the next one when that tick is past. */
  at(tick: number, work: () => void): void
  /** Converts milliseconds to ticks, rounded up. */
  ticks(ms: number): number
}

/** Starts a clock that runs until the process ends. */
export function coarseClock(): CoarseClock {
  const due = new Map<number, (() => void)[]>()
  const started = performance.now()
  let now = 0
  setInterval(() => {
    // A busy process may have missed ticks.
    for (const last = Math.floor((performance.now() - started) / tickMs); now < last;) {
      now++
      const works = due.get(now)
      due.delete(now)
      for (const work of works ?? []) work()
    }
  }, tickMs)
  return {
    get now() {
      return now
    },
    at(tick, work) {
      const then = Math.max(tick, now + 1),
        works = due.get(then)
      if (works === undefined) due.set(then, [work])
      else works.push(work)
    },
    ticks: (ms) => Math.ceil(ms / tickMs),
  }
}
