/** A request body being received. */
export interface Upload {
  /** Bytes received so far. */
  arrived(): number
  /** Bytes that it returns to the budget when it ends. */
  reserved(): number
  /** Aborts the upload. Its reservation is released before this returns. */
  end(): void
}

/** Request bodies being received. */
export interface Uploads {
  /** Adds an upload. @returns removes it; to be called however it ends */
  begin(upload: Upload): () => void
  /**
   * Ends slow uploads, the oldest first, until they have returned `bytes`: at least one, or none if all of them do not
   * suffice.
   *
   * @param spared the upload that needs the bytes, if any; it is not ended
   * @returns whether any was ended
   */
  endSlow(bytes?: number, spared?: Upload): boolean
}

/** No upload is slow before this time, in which a lost packet is sent again. */
const graceMs = 1_000
/** Lowest rate of an upload that is not slow, in bytes for each millisecond after the grace time. */
const bytesEachMs = 16
/** Uploads checked, and ended, by one call at most. The next call continues behind them. */
const checksMax = 256

/**
 * Tracks uploads, so that slow ones can be ended when a limit is reached. An upload is slow below 16 KB a second, after
 * one second of grace. Costs next to nothing before.
 *
 * @param now milliseconds on a monotonic clock
 */
export function uploadsUnderWay(now: () => number = () => performance.now()): Uploads {
  /** Start of each upload, in the order of checking: the oldest first, those already checked last. */
  const beginnings = new Map<Upload, number>()
  return {
    begin(upload) {
      beginnings.set(upload, now())
      return () => void beginnings.delete(upload)
    },
    endSlow(bytes = 0, spared) {
      const time = now()
      const slow: Upload[] = []
      let freed = 0
      let checks = Math.min(beginnings.size, checksMax)
      for (const [upload, began] of beginnings) {
        if (checks === 0) return false
        checks -= 1
        // The next call starts behind this upload.
        beginnings.delete(upload)
        beginnings.set(upload, began)
        if (upload === spared || upload.arrived() >= (time - began - graceMs) * bytesEachMs) continue
        slow.push(upload)
        freed += upload.reserved()
        if (freed < bytes) continue
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
