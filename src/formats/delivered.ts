import type { Part } from './part.ts'

/** The parts with data that the client has of a stream. Undefined: it has none. */
export interface Delivered {
  /** The first one that has a place in the answer. */
  readonly first: Part | undefined
  /** The last one that has a place in the answer: the rest of a stream begins behind it. */
  readonly place: Part | undefined
  readonly last: Part | undefined
}

/** Starts noting the parts of one stream. */
export function deliveredParts(): { add(part: Part): void; soFar(): Delivered } {
  let first: Part | undefined
  let place: Part | undefined
  let last: Part | undefined
  return {
    add(part) {
      if (part.data.length === 0) return
      last = part
      if (part.isAside === true) return
      first ??= part
      place = part
    },
    soFar: () => ({ first, place, last }),
  }
}
