const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openObject = 0x7b

/**
 * Whether JSON has more than `max` objects and separators between values, which stands for the number of its values.
 * Takes about a millisecond for a few megabytes of texts, and ends at the limit.
 */
export function hasMoreValues(bytes: Uint8Array, max: number): boolean {
  // Each of them is a byte.
  if (bytes.length <= max) return false
  let count = 0
  for (let position = 0; position < bytes.length;) {
    const found = bytes.indexOf(quote, position)
    const end = found === -1 ? bytes.length : found
    for (; position < end; position++) if (bytes[position] === comma || bytes[position] === openObject) count++
    if (count > max) return true
    position = endOfString(bytes, end + 1)
  }
  return false
}

/** Offset after the closing quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let end = bytes.indexOf(quote, start); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0
    while (bytes[end - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return end + 1
  }
  return bytes.length
}
