/** The vertical extent of a row. */
export interface RowExtent {
  readonly top: number
  readonly height: number
}

/**
 * The place that a dragged row gets when it is dropped: it moves behind each row whose middle the pointer has passed.
 *
 * @param rows in their order
 * @param from place of the dragged row, from 0
 * @param y of the pointer
 */
export function dropPlace(rows: readonly RowExtent[], from: number, y: number): number {
  return rows.filter(({ top, height }, index) => index !== from && y > top + height / 2).length
}
