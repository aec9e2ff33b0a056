import { overloaded } from '../../gateway/all-failed.ts'
import { uploadsUnderWay, type BegunUpload, type Upload, type Uploads } from './slow-uploads.ts'

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
   * Marks the start of the upload. If it is slow, it may be ended for others. Called once at most.
   */
  begin(upload: Pick<Upload, 'arrived' | 'end'>): BegunUpload
  /** Returns all bytes to the budget. Later reservations do nothing. May be called more than once. */
  release(): void
}

/** A budget of `bytesMax()` bytes, read at every reservation, so that a reload changes it. */
export function bodyBudget(bytesMax: () => number, uploads: Uploads = uploadsUnderWay()): BodyBudget {
  return new Budget(bytesMax, uploads)
}

class Budget implements BodyBudget {
  readonly bytesMax: () => number
  readonly uploads: Uploads
  reserved = 0

  constructor(bytesMax: () => number, uploads: Uploads) {
    this.bytesMax = bytesMax
    this.uploads = uploads
  }

  reservation(): BodyReservation {
    return new Reservation(this)
  }
}

/** A class, since every request has one. */
class Reservation implements BodyReservation, Upload {
  readonly #budget: Budget
  #own = 0
  #isReleased = false
  #upload: Pick<Upload, 'arrived' | 'end'> | undefined

  constructor(budget: Budget) {
    this.#budget = budget
  }

  reserve(bytes: number): void {
    if (this.#isReleased) return
    const lack = this.#lacking(bytes)
    if (lack > 0 && !this.#budget.uploads.endSlow(lack, this))
      throw overloaded('Request memory limit reached; try again shortly')
    this.#own += bytes
    this.#budget.reserved += bytes
  }

  reduce(bytes: number): void {
    if (this.#isReleased) return
    this.#own -= bytes
    this.#budget.reserved -= bytes
  }

  begin(upload: Pick<Upload, 'arrived' | 'end'>): BegunUpload {
    this.#upload = upload
    return this.#budget.uploads.begin(this)
  }

  arrived(): number {
    return this.#upload?.arrived() ?? 0
  }

  reserved(): number {
    return this.#own
  }

  end(): void {
    this.#upload?.end()
  }

  release(): void {
    this.#budget.reserved -= this.#own
    this.#own = 0
    this.#isReleased = true
  }

  /** Bytes that others would have to return first. */
  #lacking(bytes: number): number {
    const { reserved, bytesMax } = this.#budget
    return Math.min(reserved - this.#own, reserved + bytes - bytesMax())
  }
}
