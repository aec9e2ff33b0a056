/** Buckets an octave: a percentile is within some 4 % of the truth. */
const perOctave = 8
/** From 1 ms to 2²⁰ ms, some seventeen minutes. */
const buckets = 20 * perOctave

/** Milliseconds, counted in buckets: the same memory for one as for a million. */
export interface TimeHistogram {
  /** Anything that is no time is ignored. */
  add(ms: number): void
  /**
   * @param share 0.5: half took at most so long. @returns milliseconds to within 5 %; `undefined` when nothing was
   *   added
   */
  percentile(share: number): number | undefined
}

/** An empty histogram of times. */
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
        // Few times lie in few buckets: what was really seen is the better bound.
        if (seen >= wanted) return Math.min(most, Math.max(least, 2 ** ((bucket + 0.5) / perOctave)))
      }
      return undefined
    },
  }
}

function bucketOf(ms: number): number {
  return ms < 1 ? 0 : Math.min(buckets - 1, Math.floor(Math.log2(ms) * perOctave))
}
