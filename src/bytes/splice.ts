/** A change to bytes: `replacement` replaces `[start, end)`. `start === end` inserts. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly replacement: Uint8Array
}

/** Applies edits without copying and returns the pieces. `edits` must be sorted by `start` and must not overlap. */
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

/** Applies edits, which may be in any order. Returns the same array when there are no edits. */
export function applyEdits(bytes: Uint8Array, edits: Edit[]): Uint8Array {
  if (edits.length === 0) return bytes
  if (edits.length > 1) edits.sort((one, other) => one.start - other.start)
  return join(splice(bytes, edits))
}

/** Joins pieces into one. A single piece is returned without copying it. */
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
