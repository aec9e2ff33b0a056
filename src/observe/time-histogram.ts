/** Buckets for each doubling: percentiles are accurate to about 4 %. */
const perOctave = 8
/** From 1 ms to 2²⁰ ms, about 17 minutes. */
const buckets = 20 * perOctave

/** Counts times in buckets, in constant memory. */
export interface TimeHistogram {
  /** Adds a time. Negative and non-finite values are ignored. */
  add(ms: number): void
  /**
   * The time that a share of all times does not exceed.
   *
   * @param share 0.5: the median
   * @returns milliseconds, accurate to 5 %; `undefined` when the histogram is empty
   */
  percentile(share: number): number | undefined
}

export function timeHistogram(): TimeHistogram {
  const counts = new Uint32Array(buckets)
  let least = Infinity
  let most = 0

  return {
    add(ms) {
      if (!(ms >= 0 && ms < Infinity)) return
      const bucket = bucketOf(ms)
      counts[bucket] = (counts[bucket] ?? 0) + 1
      if (ms < least) least = ms
      if (ms > most) most = ms
    },
    percentile(share) {
      const ms = percentileOf([...counts], share)
      // With few times, the observed minimum and maximum are more exact than the bucket.
      return ms === undefined ? undefined : Math.min(most, Math.max(least, ms))
    },
  }
}

/** Counts of times by bucket, which merge by adding. Buckets after the last one are empty. */
export type TimeBuckets = readonly number[]

/** Adds a time to buckets. Negative and non-finite values are ignored. */
export function addTime(buckets: number[], ms: number): void {
  if (!(ms >= 0 && ms < Infinity)) return
  const bucket = bucketOf(ms)
  while (buckets.length <= bucket) buckets.push(0)
  buckets[bucket] = (buckets[bucket] ?? 0) + 1
}

/** Adds buckets to others. */
export function addBuckets(buckets: number[], more: TimeBuckets): void {
  while (buckets.length < more.length) buckets.push(0)
  // Charts merge thousands of them: an iterator of entries would take several times as long.
  for (let bucket = 0; bucket < more.length; bucket += 1) buckets[bucket] = (buckets[bucket] ?? 0) + (more[bucket] ?? 0)
}

/** The number of times. */
export function countTimes(buckets: TimeBuckets): number {
  return buckets.reduce((sum, count) => sum + count, 0)
}

/** The time that a share of all times does not exceed, accurate to 5 %; `undefined` without times. */
export function percentileOf(buckets: TimeBuckets, share: number): number | undefined {
  const wanted = Math.max(1, Math.ceil(share * countTimes(buckets)))
  let seen = 0
  for (const [bucket, count] of buckets.entries()) {
    seen += count
    if (seen >= wanted) return middleOf(bucket)
  }
  return undefined
}

function middleOf(bucket: number): number {
  return 2 ** ((bucket + 0.5) / perOctave)
}

function bucketOf(ms: number): number {
  return ms < 1 ? 0 : Math.min(buckets - 1, Math.floor(Math.log2(ms) * perOctave))
}
