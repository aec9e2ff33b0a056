/** Bytes of each answer that do not count: most answers are smaller. */
const freeBytes = 1024 * 1024

/**
 * Memory budget for answers, over all requests: while they are gathered and, if they are large, until the client has
 * read them. The first MiB of each answer is free.
 */
export interface AnswerBudget {
  /** Opens the reservation of one answer, empty at first. */
  reservation(): AnswerReservation
}

/** The bytes that one answer has reserved. */
export interface AnswerReservation {
  /**
   * Adds `bytes` to the reservation. The only answer with a counted reservation may exceed the budget, or it could
   * never be delivered.
   *
   * @returns `false` when the budget is exhausted; the reservation is then released
   */
  reserve(bytes: number): boolean
  /** Returns all bytes to the budget. May be called more than once. */
  release(): void
}

/** A budget of `bytesMax()` bytes, read at every reservation, so that a reload changes it. */
export function answerBudget(bytesMax: () => number): AnswerBudget {
  return new Budget(bytesMax)
}

class Budget implements AnswerBudget {
  readonly bytesMax: () => number
  reserved = 0

  constructor(bytesMax: () => number) {
    this.bytesMax = bytesMax
  }

  reservation(): AnswerReservation {
    return new Reservation(this)
  }
}

/** A class, since every answer has one. */
class Reservation implements AnswerReservation {
  readonly #budget: Budget
  #length = 0
  #own = 0

  constructor(budget: Budget) {
    this.#budget = budget
  }

  reserve(bytes: number): boolean {
    const budget = this.#budget
    const more = Math.max(0, this.#length + bytes - freeBytes) - this.#own
    const others = budget.reserved - this.#own
    if (more > 0 && others > 0 && budget.reserved + more > budget.bytesMax()) {
      this.release()
      return false
    }
    this.#length += bytes
    this.#own += more
    budget.reserved += more
    return true
  }

  release(): void {
    this.#budget.reserved -= this.#own
    this.#length = this.#own = 0
  }
}

/** No limit: for callers with one answer at a time. */
export const unlimitedAnswerBudget: AnswerBudget = { reservation: () => ({ reserve: () => true, release() {} }) }
