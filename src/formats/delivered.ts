import type { Part } from './part.ts'

/** The parts with data that the client has of a stream. Undefined: it has none. */
export interface Delivered {
  /** The first one that has a place in the answer. */
  readonly first: Part | undefined
  /** The last one that has a place in the answer: the rest of a stream begins behind it. */
  readonly place: Part | undefined
  readonly last: Part | undefined
}

/** Notes the parts of one stream. A class, since every stream has two: closures would take more memory. */
export class DeliveredParts {
  #first: Part | undefined
  #place: Part | undefined
  #last: Part | undefined

  add(part: Part): void {
    if (part.data.length === 0) return
    this.#last = part
    if (part.isAside === true) return
    this.#first ??= part
    this.#place = part
  }

  soFar(): Delivered {
    return { first: this.#first, place: this.#place, last: this.#last }
  }
}

/** Starts noting the parts of one stream. */
export function deliveredParts(): DeliveredParts {
  return new DeliveredParts()
}
