import { Buffer } from 'node:buffer'

/** Decodes ASCII bytes. */
export function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.prototype.latin1Slice.call(bytes, start, end)
}

/** Decodes UTF-8 bytes; invalid ones become U+FFFD. */
export function utf8(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return Buffer.prototype.utf8Slice.call(bytes, start, end)
}

/**
 * The first place of these bytes, or of one byte, from an offset on; -1: none. A buffer of the same bytes is not made:
 * the memory of a typed array becomes an object of its own when it is asked for, which costs more than a search.
 */
export function indexOfBytes(bytes: Uint8Array, wanted: Uint8Array | number, from = 0): number {
  return Buffer.prototype.indexOf.call(bytes, wanted, from)
}

/** Encodes text as UTF-8; lone surrogates become U+FFFD. */
export function encode(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Replaces line breaks, which in JSON are always between tokens. */
export function withoutLineBreaks(data: Uint8Array): Uint8Array {
  return data.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte))
}

const encoder = new TextEncoder()
