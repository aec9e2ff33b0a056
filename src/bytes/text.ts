import { Buffer } from 'node:buffer'

/** Decodes ASCII bytes. */
export function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.prototype.latin1Slice.call(bytes, start, end)
}

/** Decodes UTF-8 bytes; invalid ones become U+FFFD. */
export function utf8(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return Buffer.prototype.utf8Slice.call(bytes, start, end)
}

/** The same bytes as a buffer, which can be searched. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
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
