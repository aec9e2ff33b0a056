/** A list in groups. A full group never changes, so a view renders it once, however long the list grows. */
export interface Sequence<Item> {
  readonly groups: readonly (readonly Item[])[]
}

/** Size of a full group. */
export const groupSize = 32

/** The empty sequence. */
export const emptySequence: Sequence<never> = { groups: [] }

/** Returns the sequence with an item appended. Both share their full groups. */
export function append<Item>(sequence: Sequence<Item>, item: Item): Sequence<Item> {
  const last = sequence.groups.at(-1)
  if (last === undefined || last.length === groupSize) return { groups: [...sequence.groups, [item]] }
  return { groups: [...sequence.groups.slice(0, -1), [...last, item]] }
}

/** Whether the sequence is empty. */
export function isEmpty(sequence: Sequence<unknown>): boolean {
  return sequence.groups.length === 0
}
