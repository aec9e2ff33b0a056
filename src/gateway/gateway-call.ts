import type { Access } from '../formats/access.ts'
import type { Caller } from '../people/person.ts'
import type { Call } from '../service/service.ts'
import type { Booking } from './booking.ts'

/** A call, with the limits of its caller. */
export interface GatewayCall extends Call {
  readonly access?: Access | undefined
  /** Whose budgets count the attempts. Absent: only those for everyone and for providers. */
  readonly caller?: Caller | undefined
  /** The session that it belongs to, with its caller. Absent: none was named. */
  readonly session?: string | undefined
  /** Gets costs for the record of the request. Absent: it is not recorded. */
  readonly booking?: Booking | undefined
  /** Called when the turn of a provider has come, before it is asked. */
  onTurn?(provider: string): void
}
