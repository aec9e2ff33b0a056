/** A change to bytes: what stands in `[start, end)` becomes `replacement`. `start === end` inserts. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly replacement: Uint8Array
}

/** The bytes with the edits made, in pieces, without copying. `edits` are sorted by `start` and do not overlap. */
export function splice(bytes: Uint8Array, edits: readonly Edit[]): readonly Uint8Array[] {
  if (edits.length === 0) return [bytes]
  const pieces: Uint8Array[] = []
  let position = 0
  for (const { start, end, replacement } of edits) {
    if (start > position) pieces.push(bytes.subarray(position, start))
    if (replacement.length > 0) pieces.push(replacement)
    position = end
  }
  if (position < bytes.length) pieces.push(bytes.subarray(position))
  return pieces
}

/** The pieces as one; a single piece is returned as it is. */
export function join(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces
  if (first !== undefined && pieces.length === 1) return first
  let length = 0
  for (const piece of pieces) length += piece.length
  const joined = new Uint8Array(length)
  let position = 0
  for (const piece of pieces) {
    joined.set(piece, position)
    position += piece.length
  }
  return joined
}
