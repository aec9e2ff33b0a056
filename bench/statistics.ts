/** Median of values over the rounds, with minimum and maximum. */
export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
  /** Number of values, from 1. */
  readonly count: number
}

/** Summarizes values; undefined without values. */
export function summarize(values: readonly number[]): Summary | undefined {
  const middle = median(values)
  if (middle === undefined) return undefined
  return { median: middle, min: Math.min(...values), max: Math.max(...values), count: values.length }
}

/** The middle value; for an even count the mean of the two in the middle. Undefined without values. */
export function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.ceil(sorted.length / 2) - 1]
  return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2
}

/** Percentile by nearest rank. Undefined without values. */
export function percentile(values: ArrayLike<number>, percent: number): number | undefined {
  const sorted = Float64Array.from(values).sort()
  const rank = Math.ceil((percent / 100) * sorted.length)
  return sorted[Math.max(rank, 1) - 1]
}
