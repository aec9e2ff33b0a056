/** The visible part of a list, in pixels. */
export interface Viewport {
  /** Offset of the list from the top of the visible part; negative when scrolled. */
  readonly top: number
  readonly height: number
  readonly rowHeight: number
}

/** Rendered rows from `first` to `last` (exclusive). `above` and `below` count the others. */
export interface RenderedRows {
  readonly first: number
  readonly last: number
}

/** Selects rows to render: the visible ones, and `more` on either side. @param count number of rows */
export function visibleRows(count: number, { top, height, rowHeight }: Viewport, more = 10): RenderedRows {
  const first = clamp(Math.floor(-top / rowHeight) - more, 0, count)
  const last = clamp(Math.ceil((height - top) / rowHeight) + more, first, count)
  return { first, last }
}

/** A piece of a partly rendered list. */
export type RowPiece =
  | { readonly kind: 'row'; readonly index: number }
  /** Space of rows that are not rendered. */
  | { readonly kind: 'gap'; readonly rows: number }

/**
 * Splits a list into rendered rows and gaps, which keep the positions.
 *
 * @param kept a row that must stay rendered, since it has the focus
 */
export function piecesOf(count: number, { first, last }: RenderedRows, kept: number | undefined): readonly RowPiece[] {
  const indexes = Array.from({ length: last - first }, (_, offset) => first + offset)
  if (kept !== undefined && kept >= 0 && kept < first) indexes.unshift(kept)
  if (kept !== undefined && kept >= last && kept < count) indexes.push(kept)
  const pieces: RowPiece[] = []
  let next = 0
  for (const index of [...indexes, count]) {
    if (index > next) pieces.push({ kind: 'gap', rows: index - next })
    if (index < count) pieces.push({ kind: 'row', index })
    next = index + 1
  }
  return pieces
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}
