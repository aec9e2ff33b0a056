/**
 * Things in order, in groups: what is full never changes again, so a view remembers it as one piece however long the
 * whole grows.
 */
export interface Sequence<Item> {
  readonly groups: readonly (readonly Item[])[]
}

/** How many a full group has. */
export const groupSize = 32

/** Nothing yet. */
export const emptySequence: Sequence<never> = { groups: [] }

/** The sequence with one more at its end. The given one stays as it is; they share all full groups. */
export function append<Item>(sequence: Sequence<Item>, item: Item): Sequence<Item> {
  const last = sequence.groups.at(-1)
  if (last === undefined || last.length === groupSize) return { groups: [...sequence.groups, [item]] }
  return { groups: [...sequence.groups.slice(0, -1), [...last, item]] }
}

/** Whether it holds nothing. */
export function isEmpty(sequence: Sequence<unknown>): boolean {
  return sequence.groups.length === 0
}
