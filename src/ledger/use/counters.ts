/** The counters of one sum of use, in the order of their columns. All are whole numbers. */
export const counterNames = [
  /** Requests that ended. */
  'requests',
  /** Requests that ended with an error, without those whose client left. */
  'errors',
  /** Requests whose client left before the end of the answer. */
  'left_early',
  /** Attempts that did not become the answer, and that count here: with tokens, or perhaps billed. */
  'attempts',
  'input',
  'cached',
  'write5',
  'write60',
  'output',
  'reasoning',
  /** Nano-USD; the next two are parts of it. */
  'cost',
  /** Of this, the cost that providers reported themselves. */
  'cost_reported',
  /** Of this, the cost of estimated tokens. */
  'cost_estimated',
  /** Answers whose cost is not known. */
  'unpriced',
  /** Answers and attempts whose tokens are estimated, or not known although they may have been billed. */
  'estimated',
  /** Attempts that were booked at their estimates, after their process had died. They are among the estimated. */
  'unsettled',
  /** Nano-USD that caches of prompts saved, less the surcharge of writes. May be below 0. */
  'saved',
] as const

/** The name of a counter, and of its column. */
export type CounterName = (typeof counterNames)[number]

/** Counters, by their names. Absent ones are 0. */
export type Counters = Partial<Record<CounterName, number>>

/** Adds counters to others. */
export function addCounters(sum: Counters, more: Counters): void {
  for (const name of counterNames) {
    const count = more[name]
    if (count !== undefined && count !== 0) sum[name] = (sum[name] ?? 0) + count
  }
}
