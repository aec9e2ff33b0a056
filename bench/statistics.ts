/** The middle of what was measured over the rounds, with its extremes. */
export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
  /** Rounds it is made of, from 1. */
  readonly count: number
}

/** Undefined when there is nothing to summarize. */
export function summarize(values: readonly number[]): Summary | undefined {
  const middle = median(values)
  if (middle === undefined) return undefined
  return { median: middle, min: Math.min(...values), max: Math.max(...values), count: values.length }
}

/** The middle value; of an even count the mean of the two in the middle. Undefined of none. */
export function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.ceil(sorted.length / 2) - 1]
  return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2
}

/** The smallest value that at least `percent` of all values do not exceed (nearest rank). Undefined of none. */
export function percentile(values: ArrayLike<number>, percent: number): number | undefined {
  const sorted = Float64Array.from(values).sort()
  const rank = Math.ceil((percent / 100) * sorted.length)
  return sorted[Math.max(rank, 1) - 1]
}
