const tickMs = 10

/** Runs what is due every 10 ms: one timer for any number of waits. */
export interface CoarseClock {
  /** The tick under way. */
  readonly now: number
  /** Runs `work` at a tick; at the next one when it is past. */
  at(tick: number, work: () => void): void
  /** Milliseconds as ticks, rounded up. */
  ticks(ms: number): number
}

/** A clock that runs until its process ends. */
export function coarseClock(): CoarseClock {
  const due = new Map<number, (() => void)[]>()
  const started = performance.now()
  let now = 0
  setInterval(() => {
    // A busy process may have missed some.
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
