import { overloaded } from '../gateway/all-failed.ts'

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
   * Takes so many bytes more. A body that nobody is beside is taken however large, or it could never be.
   * @throws {WireError} 503 when they are not there
   */
  take(bytes: number): void
  /** Gives everything back, and takes nothing from then on. May be called more than once. */
  release(): void
}

/** A budget of `bytesMost()` bytes, asked for at each taking, so that a reload changes it. */
export function bodyBudget(bytesMost: () => number): BodyBudget {
  let held = 0
  return {
    share() {
      let own = 0
      let isReleased = false
      return {
        take(bytes) {
          if (isReleased) return
          if (held > own && held + bytes > bytesMost()) throw overloaded('The service holds as many bytes of requests as it may; try again shortly')
          own += bytes
          held += bytes
        },
        release() {
          held -= own
          own = 0
          isReleased = true
        },
      }
    },
    get held() { return held },
  }
}
