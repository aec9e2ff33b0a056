import { fnv1a } from '../../src/base/fnv1a.ts'

/** The colours of charts, as classes. */
const slots = ['text-c1', 'text-c2', 'text-c3', 'text-c4', 'text-c5', 'text-c6', 'text-c7'] as const

/** The colour of all others together. */
export const othersColour = 'text-edge'

/**
 * Returns the colour of a name, which depends on neither rank nor time: the slot of its hash. Of the names of a
 * catalogue in alphabetical order, a taken slot gives the next free one, and the eighth begins again.
 *
 * @param catalogue names that are known apart from what a chart shows, so that their colours differ
 * @param drawn names that a chart shows: up to seven differ. One outside the catalogue, or behind its seventh, gives
 *   way
 */
export function nameColours(catalogue: Iterable<string>, drawn: Iterable<string> = []): (name: string) => string {
  const known = new Map<string, number>()
  const taken = new Set<number>()
  // Not by locale: a language must not change a colour.
  for (const name of [...new Set(catalogue)].toSorted()) {
    if (taken.size === slots.length) taken.clear()
    let slot = slotOf(name)
    while (taken.has(slot)) slot = (slot + 1) % slots.length
    taken.add(slot)
    known.set(name, slot)
  }
  const shown = [...new Set(drawn)].toSorted()
  const used = new Set<number>()
  for (const name of [...shown.filter((each) => known.has(each)), ...shown.filter((each) => !known.has(each))]) {
    let slot = known.get(name) ?? slotOf(name)
    while (used.has(slot) && used.size < slots.length) slot = (slot + 1) % slots.length
    used.add(slot)
    known.set(name, slot)
  }
  return (name) => slots[known.get(name) ?? slotOf(name)] ?? othersColour
}

function slotOf(name: string): number {
  return fnv1a(name) % slots.length
}
