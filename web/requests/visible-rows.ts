/** What of a long list is in sight. All in pixels. */
export interface Sight {
  /** Where the list begins, seen from the top of what is in sight: negative when it is scrolled away. */
  readonly top: number
  readonly height: number
  readonly rowHeight: number
}

/** Rows that are drawn, from `first` to before `last`, with room for `above` and `below` rows that are not. */
export interface Drawn {
  readonly first: number
  readonly last: number
}

/** Which of `count` rows to draw: those in sight, and `more` on either side. */
export function visibleRows(count: number, { top, height, rowHeight }: Sight, more = 10): Drawn {
  const first = clamp(Math.floor(-top / rowHeight) - more, 0, count)
  const last = clamp(Math.ceil((height - top) / rowHeight) + more, first, count)
  return { first, last }
}

/** One piece of a list that is drawn in part. */
export type Piece =
  | { readonly kind: 'row'; readonly index: number }
  /** Room for rows that are not drawn. */
  | { readonly kind: 'gap'; readonly rows: number }

/**
 * The list in pieces: the drawn rows, one more that must not vanish (the one with the focus), and gaps that keep
 * everything in its place.
 */
export function piecesOf(count: number, { first, last }: Drawn, kept: number | undefined): readonly Piece[] {
  const indexes = Array.from({ length: last - first }, (_, offset) => first + offset)
  if (kept !== undefined && kept >= 0 && kept < first) indexes.unshift(kept)
  if (kept !== undefined && kept >= last && kept < count) indexes.push(kept)
  const pieces: Piece[] = []
  let next = 0
  for (const index of [...indexes, count]) {
    if (index > next) pieces.push({ kind: 'gap', rows: index - next })
    if (index < count) pieces.push({ kind: 'row', index })
    next = index + 1
  }
  return pieces
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
