/** The slots of the page that an extension can replace, as in web/slots.ts. */
export const slotNames: readonly string[] = ['SignIn']

/** The slots of the page that an extension claims. */
export interface Claim {
  readonly name: string
  readonly slots: readonly string[]
}

/** A claimed slot does not exist, or another extension has claimed it. */
export class SlotError extends Error {
  override readonly name = 'SlotError'
}

/** Checks an extension's claim against those of the others. @throws {SlotError} */
export function checkClaim({ name, slots }: Claim, others: readonly Claim[]): void {
  for (const slot of slots) {
    if (!slotNames.includes(slot)) {
      const claimed = `${name} claims the slot '${slot.slice(0, 64)}' of the page, which does not exist`
      throw new SlotError(`${claimed}: the slots are ${slotNames.join(', ')}`)
    }
    const owner = others.find((other) => other.name !== name && other.slots.includes(slot))
    if (owner !== undefined)
      throw new SlotError(
        `${owner.name} and ${name} both claim the slot '${slot}' of the page: only one of them can be on`,
      )
  }
}
