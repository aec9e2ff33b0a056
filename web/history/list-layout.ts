import type { Group } from './groups.ts'

/** Heights in CSS pixels. */
export interface Sizes {
  readonly row: number
  readonly heading: number
}

/** A group with its position in the list. */
export interface PlacedGroup extends Group {
  /** Index of its first row among all rows. */
  readonly first: number
  /** Offset of its first row from the top of the list. */
  readonly top: number
}

/** A range of rows in a group; `to` is exclusive. */
export interface Rows {
  readonly from: number
  readonly to: number
}

/** Stacks groups, each under its heading. Headings of folders are as high as rows. */
export function placed(groups: readonly Group[], { row, heading }: Sizes): readonly PlacedGroup[] {
  let first = 0,
    bottom = 0
  return groups.map((group) => {
    const place = { ...group, first, top: bottom + (group.folder === undefined ? heading : row) }
    first += group.heads.length
    bottom = place.top + group.heads.length * row
    return place
  })
}

/** Returns the rows of a group that overlap a range of offsets. */
export function rowsBetween({ heads, top }: PlacedGroup, { row }: Sizes, from: number, to: number): Rows {
  const clamp = (index: number): number => Math.max(0, Math.min(heads.length, index))
  return { from: clamp(Math.floor((from - top) / row)), to: clamp(Math.ceil((to - top) / row)) }
}
