/** A body that is on its way in. */
export interface Upload {
  /** Bytes that have come so far. */
  arrived(): number
  /** Bytes of the budget that are given back when it ends. */
  holds(): number
  /** Ends it. What it holds is given back by the time this returns. */
  end(): void
}

/** The bodies that are on their way in. */
export interface Uploads {
  /** One begins. @returns to be called when it has come, or comes no more */
  begin(upload: Upload): () => void
  /**
   * Ends those that come slowly, the oldest first, for somebody who needs their room: one, and more until they held so
   * many bytes. Nobody where they do not suffice.
   *
   * @param spared whoever needs the room, if it is on its way in itself
   * @returns whether they did
   */
  endSlow(bytes?: number, spared?: Upload): boolean
}

/** Nobody is slow before so long. A lost packet is sent again within it. */
const graceMs = 1_000
/** Who has sent fewer than so many bytes for each millisecond beyond the grace is slow. */
const bytesEachMs = 16
/** At most so many are looked at in one search, which may end as many; the next goes on where this one ended. */
const looksMost = 256

/**
 * Remembers who is sending, so that there is somebody to end when room runs short: who sends less than 16 KB a second,
 * a second of grace apart. Costs nothing to speak of until then.
 *
 * @param now milliseconds on a monotonic clock
 */
export function uploadsUnderWay(now: () => number = () => performance.now()): Uploads {
  /** When each began, by the order of looking: the oldest first, at first. */
  const beginnings = new Map<Upload, number>()
  return {
    begin(upload) {
      beginnings.set(upload, now())
      return () => void beginnings.delete(upload)
    },
    endSlow(bytes = 0, spared) {
      const time = now()
      const slow: Upload[] = []
      let held = 0
      let looks = Math.min(beginnings.size, looksMost)
      for (const [upload, began] of beginnings) {
        if (looks === 0) return false
        looks -= 1
        // The next search begins behind it.
        beginnings.delete(upload)
        beginnings.set(upload, began)
        if (upload === spared || upload.arrived() >= (time - began - graceMs) * bytesEachMs) continue
        slow.push(upload)
        held += upload.holds()
        if (held < bytes) continue
        for (const each of slow) {
          beginnings.delete(each)
          each.end()
        }
        return true
      }
      return false
    },
  }
}
