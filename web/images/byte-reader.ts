/** Reads numbers from untrusted bytes. Any offset is allowed: bytes beyond the end are 0. */
export interface ByteReader {
  readonly length: number
  /** One byte. */
  at(offset: number): number
  /** Unsigned, big-endian. */
  big16(offset: number): number
  big32(offset: number): number
  /** Unsigned, little-endian. */
  little16(offset: number): number
  little24(offset: number): number
  little32(offset: number): number
  /** Bytes as Latin-1. */
  text(offset: number, length: number): string
}

export function byteReader(bytes: Uint8Array): ByteReader {
  const at = (offset: number): number => bytes[offset] ?? 0
  const big16 = (offset: number): number => at(offset) * 0x100 + at(offset + 1)
  const little16 = (offset: number): number => at(offset) + at(offset + 1) * 0x100
  return {
    length: bytes.length,
    at,
    big16,
    big32: (offset) => big16(offset) * 0x10000 + big16(offset + 2),
    little16,
    little24: (offset) => little16(offset) + at(offset + 2) * 0x10000,
    little32: (offset) => little16(offset) + little16(offset + 2) * 0x10000,
    text: (offset, length) => String.fromCharCode(...bytes.subarray(offset, offset + length)),
  }
}
