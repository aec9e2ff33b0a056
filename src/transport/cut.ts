/** For tests: the bytes in pieces of the given lengths, each a buffer of its own; the last has what is left. */
export function cut(bytes: Uint8Array, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = []
  let from = 0
  for (const length of lengths) {
    pieces.push(Buffer.from(bytes.subarray(from, from + length)))
    from += length
  }
  pieces.push(Buffer.from(bytes.subarray(from)))
  return pieces.filter((piece) => piece.length > 0)
}
