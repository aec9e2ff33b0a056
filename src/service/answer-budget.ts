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
  let reserved = 0
  return {
    reservation() {
      let length = 0
      let own = 0
      function release(): void {
        reserved -= own
        length = own = 0
      }
      return {
        release,
        reserve(bytes) {
          const more = Math.max(0, length + bytes - freeBytes) - own
          const others = reserved - own
          if (more > 0 && others > 0 && reserved + more > bytesMax()) {
            release()
            return false
          }
          length += bytes
          own += more
          reserved += more
          return true
        },
      }
    },
  }
}

/** No limit: for callers with one answer at a time. */
export const unlimitedAnswerBudget: AnswerBudget = { reservation: () => ({ reserve: () => true, release() {} }) }
