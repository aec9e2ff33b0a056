import type { Access } from '../formats/access.ts'
import type { AttemptHold } from '../limits/budgets/attempt-hold.ts'
import type { MetLimit } from '../observe/request-entry.ts'
import type { Caller } from '../people/person.ts'
import type { Call } from '../service/service.ts'

/** A call, with the limits of its caller. */
export interface GatewayCall extends Call {
  readonly access?: Access | undefined
  /** Whose budgets count the attempts. Absent: only those for everyone and for providers. */
  readonly caller?: Caller | undefined
  /** Gets costs for the record of the request. Absent: it is not recorded. */
  readonly booking?: Booking | undefined
}

/** Part of the record of a request. */
export interface Booking {
  /**
   * Estimated costs of attempts that no other part of the record has: the caller left before the answer, or the
   * provider reported no usage. `undefined`: none.
   */
  unrecorded: readonly UnrecordedCost[] | undefined
  /** Takes a budget by which a provider was passed over. */
  addMet(limit: MetLimit): void
  /** Takes a hold, to say when the request is recorded. */
  addHold(hold: Pick<AttemptHold, 'recorded'>): void
}

/** A cost that limits of money booked. */
export interface UnrecordedCost {
  /** Id of the provider. */
  readonly provider: string
  readonly nanoUsd: number
}
