import type { AttemptHold } from '../limits/budgets/attempt-hold.ts'
import type { MetLimit } from '../observe/request-entry.ts'

/** A cost that limits of money booked for an attempt, and that the counts of the answer do not tell. */
export interface BookedAttempt {
  /** Id of the provider. */
  readonly provider: string
  readonly nanoUsd: number
  /** Position of the attempt in the trail. `undefined`: the caller left before it, or the answer was not counted. */
  readonly place: number | undefined
}

/**
 * Costs and budgets of one request: the only home of the costs of its attempts until the record of the request has
 * them.
 */
export class Booking {
  readonly attempts: BookedAttempt[] = []
  /** Budgets by which providers were passed over. */
  readonly met: MetLimit[] = []
  readonly #holds: Pick<AttemptHold, 'recorded'>[] = []
  #isRecorded = false

  addHold(hold: Pick<AttemptHold, 'recorded'>): void {
    if (this.#isRecorded) hold.recorded()
    else this.#holds.push(hold)
  }

  /** The record of the request has been handed over. */
  recorded(): void {
    this.#isRecorded = true
    for (const hold of this.#holds) hold.recorded()
  }

  /** The stream of an attempt was cut, and another one has the answer: its cost is that of the attempt. */
  passOn(provider: string, place: number): void {
    const index = this.attempts.findLastIndex((each) => each.provider === provider && each.place === undefined)
    const attempt = this.attempts[index]
    if (attempt !== undefined) this.attempts[index] = { ...attempt, place }
  }

  /**
   * The booked cost of the attempt that became the answer.
   *
   * @param provider that answered
   */
  answered(provider: string): number | undefined {
    return this.attempts.findLast((attempt) => attempt.provider === provider)?.nanoUsd
  }
}
