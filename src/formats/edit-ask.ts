import { join, splice, type Edit } from '../bytes/splice.ts'
import type { Ask } from './ask.ts'

/** A request that was edited. */
export interface EditedAsk {
  readonly changed: Pick<Ask, 'body' | 'members'>
  /** The new offset of a byte that stays. */
  moved(offset: number): number
}

/** Edits a request inside of its members. @param edits sorted, without overlap */
export function editAsk({ body, members }: Ask, edits: readonly Edit[]): EditedAsk {
  let sum = 0
  const shifts = edits.map(({ start, end, replacement }) => (sum += replacement.length - (end - start)))

  function moved(offset: number): number {
    let low = 0
    let high = edits.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((edits[middle]?.end ?? Infinity) <= offset) low = middle + 1
      else high = middle
    }
    return offset + (shifts[low - 1] ?? 0)
  }

  return {
    changed: {
      body: join(splice(body, edits)),
      members: members.map(({ name, start, valueStart, end }) => ({
        name,
        start: moved(start),
        valueStart: moved(valueStart),
        end: moved(end),
      })),
    },
    moved,
  }
}
