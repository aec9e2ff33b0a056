/** The slots of the page that an extension may take over: those of web/slots.ts. */
export const slotNames: readonly string[] = ['SignIn']

/** An extension that is on, and the slots of the page that it claims. */
export interface Claim {
  readonly name: string
  readonly slots: readonly string[]
}

/** A slot is claimed that does not exist, or that somebody has already: the page could not be what both mean it to be. */
export class SlotFault extends Error {
  override readonly name = 'SlotFault'
}

/** Whether an extension may be on beside others. @throws {SlotFault} */
export function checkClaim({ name, slots }: Claim, others: readonly Claim[]): void {
  for (const slot of slots) {
    if (!slotNames.includes(slot))
      throw new SlotFault(
        `${name} claims the slot '${slot.slice(0, 64)}' of the page, which does not exist: the slots are ${slotNames.join(', ')}`,
      )
    const owner = others.find((other) => other.name !== name && other.slots.includes(slot))
    if (owner !== undefined)
      throw new SlotFault(
        `${owner.name} and ${name} both claim the slot '${slot}' of the page: only one of them can be on`,
      )
  }
}
