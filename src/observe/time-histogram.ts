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

/** Makes an empty histogram. */
export function timeHistogram(): TimeHistogram {
  const counts = new Uint32Array(buckets)
  let total = 0
  let least = Infinity
  let most = 0

  return {
    add(ms) {
      if (!(ms >= 0 && ms < Infinity)) return
      const bucket = bucketOf(ms)
      counts[bucket] = (counts[bucket] ?? 0) + 1
      total += 1
      if (ms < least) least = ms
      if (ms > most) most = ms
    },
    percentile(share) {
      const wanted = Math.max(1, Math.ceil(share * total))
      let seen = 0
      for (const [bucket, count] of counts.entries()) {
        seen += count
        // With few times, the observed minimum and maximum are more exact than the bucket.
        if (seen >= wanted) return Math.min(most, Math.max(least, 2 ** ((bucket + 0.5) / perOctave)))
      }
      return undefined
    },
  }
}

function bucketOf(ms: number): number {
  return ms < 1 ? 0 : Math.min(buckets - 1, Math.floor(Math.log2(ms) * perOctave))
}
