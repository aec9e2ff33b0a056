import { ownHolder } from '../ledger/use/holder.ts'
import type { HeldBy, HeldCost } from '../observe/under-way.ts'

/** What this process holds, for the database. */
export interface HeldHere {
  /** Sets the source of the holds, once there are limits of money. */
  follow(sums: () => readonly HeldCost[] | undefined): void
  /** `undefined`: this process never held anything. */
  now(): HeldBy | undefined
}

/** Before a source is set, nothing is held. */
export function heldHere(): HeldHere {
  let sums: () => readonly HeldCost[] | undefined = () => undefined
  let holder: string | undefined
  return {
    follow(source) {
      sums = source
    },
    now() {
      const costs = sums()
      return costs === undefined ? undefined : { holder: (holder ??= ownHolder()), costs }
    },
  }
}
