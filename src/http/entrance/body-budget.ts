import { overloaded } from '../../gateway/all-failed.ts'
import { uploadsUnderWay, type Upload, type Uploads } from './uploads.ts'

/** Memory budget for request bodies, over all requests. */
export interface BodyBudget {
  /** Opens the reservation of one request, empty at first. */
  reservation(): BodyReservation
  /** Bytes reserved now. */
  readonly reserved: number
}

/** The bytes that one request has reserved. */
export interface BodyReservation {
  /**
   * Adds `bytes` to the reservation. If the budget lacks them, slow uploads of others are ended, provided that this
   * suffices. A body may exceed the budget while no other has a reservation, or it could never be sent.
   *
   * @throws {WireError} 503 when the budget is exhausted
   */
  reserve(bytes: number): void
  /** Returns some of the bytes to the budget. */
  reduce(bytes: number): void
  /**
   * Marks the start of the upload. If it is slow, it may be ended for others.
   *
   * @returns marks the end of the upload; to be called however it ends
   */
  begin(upload: Pick<Upload, 'arrived' | 'end'>): () => void
  /** Returns all bytes to the budget. Later reservations do nothing. May be called more than once. */
  release(): void
}

/** A budget of `bytesMax()` bytes, read at every reservation, so that a reload changes it. */
export function bodyBudget(bytesMax: () => number, uploads: Uploads = uploadsUnderWay()): BodyBudget {
  let reserved = 0
  return {
    reservation() {
      let own = 0
      let isReleased = false
      let ownUpload: Upload | undefined
      /** Bytes that others would have to return first. */
      const lacking = (bytes: number): number => Math.min(reserved - own, reserved + bytes - bytesMax())
      return {
        reserve(bytes) {
          if (isReleased) return
          const lack = lacking(bytes)
          if (lack > 0 && !uploads.endSlow(lack, ownUpload))
            throw overloaded('Request memory limit reached; try again shortly')
          own += bytes
          reserved += bytes
        },
        reduce(bytes) {
          if (isReleased) return
          own -= bytes
          reserved -= bytes
        },
        begin({ arrived, end }) {
          ownUpload = { arrived, reserved: () => own, end }
          return uploads.begin(ownUpload)
        },
        release() {
          reserved -= own
          own = 0
          isReleased = true
        },
      }
    },
    get reserved() {
      return reserved
    },
  }
}
