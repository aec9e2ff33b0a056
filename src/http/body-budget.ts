import { overloaded } from '../gateway/all-failed.ts'
import { uploadsUnderWay, type Upload, type Uploads } from './uploads.ts'

/** The bytes that request bodies may hold, over all requests. */
export interface BodyBudget {
  /** The part of one request, empty at first. */
  share(): BodyShare
  /** Bytes held now. */
  readonly held: number
}

/** What one request holds of the budget. */
export interface BodyShare {
  /**
   * Takes so many bytes more. When they are not there, others that come slowly are ended for it, if that suffices. A
   * body that nobody is beside is taken however large, or it could never be.
   *
   * @throws {WireError} 503 when they are not there
   */
  take(bytes: number): void
  /** Gives so many bytes back. */
  giveBack(bytes: number): void
  /**
   * Its body is on its way in from now on: when it comes slowly, it may be ended for others. @returns to be called when
   * it has come, or comes no more
   */
  begin(upload: Pick<Upload, 'arrived' | 'end'>): () => void
  /** Gives everything back, and takes nothing from then on. May be called more than once. */
  release(): void
}

/** A budget of `bytesMost()` bytes, asked for at each taking, so that a reload changes it. */
export function bodyBudget(bytesMost: () => number, uploads: Uploads = uploadsUnderWay()): BodyBudget {
  let held = 0
  return {
    share() {
      let own = 0
      let isReleased = false
      let ownUpload: Upload | undefined
      /** So many bytes others would have to give back first. */
      const lacking = (bytes: number): number => Math.min(held - own, held + bytes - bytesMost())
      return {
        take(bytes) {
          if (isReleased) return
          const lack = lacking(bytes)
          if (lack > 0 && !uploads.endSlow(lack, ownUpload))
            throw overloaded('The service holds as many bytes of requests as it may; try again shortly')
          own += bytes
          held += bytes
        },
        giveBack(bytes) {
          if (isReleased) return
          own -= bytes
          held -= bytes
        },
        begin({ arrived, end }) {
          ownUpload = { arrived, holds: () => own, end }
          return uploads.begin(ownUpload)
        },
        release() {
          held -= own
          own = 0
          isReleased = true
        },
      }
    },
    get held() {
      return held
    },
  }
}
