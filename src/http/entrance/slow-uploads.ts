import { RingPlace } from '../../service/ring.ts'

/** A request body being received. */
export interface Upload {
  /** Bytes received so far. */
  arrived(): number
  /** Bytes that it returns to the budget when it ends. */
  reserved(): number
  /** Aborts the upload. Its reservation is released before this returns. */
  end(): void
}

/** An upload that has begun. */
export interface BegunUpload {
  /** Removes the upload. To be called however it ends; more than once is no fault. */
  over(): void
}

/** Request bodies being received. */
export interface Uploads {
  begin(upload: Upload): BegunUpload
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
  /** The place behind all uploads, in the order of checking: the oldest first, those already checked last. */
  const end = new RingPlace()
  let count = 0

  class Begun extends RingPlace implements BegunUpload {
    readonly upload: Upload
    readonly #began = now()
    #isOver = false

    constructor(upload: Upload) {
      super()
      this.upload = upload
      this.joinBefore(end)
      count += 1
    }

    isSlow(time: number): boolean {
      return this.upload.arrived() < (time - this.#began - graceMs) * bytesEachMs
    }

    /** The next check starts behind this upload. */
    checked(): void {
      this.leave()
      this.joinBefore(end)
    }

    over(): void {
      if (this.#isOver) return
      this.#isOver = true
      this.leave()
      count -= 1
    }
  }

  return {
    begin: (upload) => new Begun(upload),
    endSlow(bytes = 0, spared) {
      const time = now()
      const slow: Begun[] = []
      let freed = 0
      for (let checks = Math.min(count, checksMax); checks > 0; checks -= 1) {
        const begun = end.next
        if (!(begun instanceof Begun)) return false
        begun.checked()
        if (begun.upload === spared || !begun.isSlow(time)) continue
        slow.push(begun)
        freed += begun.upload.reserved()
        if (freed < bytes) continue
        for (const each of slow) {
          each.over()
          each.upload.end()
        }
        return true
      }
      return false
    },
  }
}
