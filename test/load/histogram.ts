/** Counts of durations in buckets that grow by 2 %, so that any number of them takes the same room. */
export interface Histogram {
  /** Adds one duration, microseconds. */
  add(us: number): void
  /** What the smallest `percent` of all do not exceed, microseconds, to within 2 %; 0 of none. */
  percentile(percent: number): number
  /** Bucket → count, for another process. */
  readonly counts: ReadonlyMap<number, number>
}

const growth = Math.log(1.02)

/** A histogram, of `counts` that were taken elsewhere or empty. */
export function histogram(...counts: readonly Iterable<readonly [number, number]>[]): Histogram {
  const buckets = new Map<number, number>()
  const addTo = (bucket: number, count: number) => buckets.set(bucket, (buckets.get(bucket) ?? 0) + count)
  for (const each of counts) for (const [bucket, count] of each) addTo(bucket, count)
  return {
    counts: buckets,
    add: (us) => void addTo(Math.ceil(Math.log(Math.max(1, us)) / growth), 1),
    percentile(percent) {
      const sorted = [...buckets].sort(([a], [b]) => a - b)
      const rank = Math.ceil((sorted.reduce((sum, [, count]) => sum + count, 0) * percent) / 100)
      let passed = 0
      for (const [bucket, count] of sorted) {
        passed += count
        if (passed >= rank) return Math.exp(bucket * growth)
      }
      return 0
    },
  }
}
