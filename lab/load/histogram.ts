/** Counts durations in buckets that grow by 2 %, so that memory does not grow with their number. */
export interface Histogram {
  /** Adds one duration, microseconds. */
  add(us: number): void
  /** Percentile in microseconds, to within 2 %; 0 without durations. */
  percentile(percent: number): number
  /** Bucket → count, to send to another process. */
  readonly counts: ReadonlyMap<number, number>
}

const growth = Math.log(1.02)

/** Makes a histogram from the sum of `counts` of other histograms; empty without them. */
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
