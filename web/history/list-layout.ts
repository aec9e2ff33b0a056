import type { Group } from './groups.ts'

/** Heights in CSS pixels. */
export interface Sizes {
  readonly row: number
  readonly heading: number
}

/** A group, and where it stands in the list. */
export interface PlacedGroup extends Group {
  /** Number of its first row among all rows. */
  readonly first: number
  /** Where its first row begins, from the top of the list. */
  readonly top: number
}

/** Some rows of a group: from this one to the one before that. */
export interface Rows {
  readonly from: number
  readonly to: number
}

/** Puts groups one below the other, each under its heading. */
export function placed(groups: readonly Group[], { row, heading }: Sizes): readonly PlacedGroup[] {
  let first = 0,
    bottom = 0
  return groups.map((group) => {
    const place = { ...group, first, top: bottom + heading }
    first += group.heads.length
    bottom = place.top + group.heads.length * row
    return place
  })
}

/** Those rows of a group that lie, at least in part, between two places in the list. */
export function rowsBetween({ heads, top }: PlacedGroup, { row }: Sizes, from: number, to: number): Rows {
  const clamp = (index: number): number => Math.max(0, Math.min(heads.length, index))
  return { from: clamp(Math.floor((from - top) / row)), to: clamp(Math.ceil((to - top) / row)) }
}
