/** Images for tests: minimal real files, and constructed headers. */

/** Decodes base64. */
function decoded(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))
}

/** Minimal real files, named by width and height. Every browser decodes them. */
export const realImages = {
  png: {
    size: [1, 1],
    bytes: decoded('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  },
  gif: { size: [1, 1], bytes: decoded('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7') },
  'webp, lossy': { size: [1, 1], bytes: decoded('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA') },
  'webp, lossless': { size: [1, 1], bytes: decoded('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==') },
  'webp, with alpha': {
    size: [1, 1],
    bytes: decoded(
      'UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7m' +
        'tQAAAA==',
    ),
  },
  'webp, animated': {
    size: [1, 1],
    bytes: decoded(
      'UklGRlIAAABXRUJQVlA4WAoAAAASAAAAAAAAAAAAQU5JTQYAAAD/////AABBTk1GJgAAAAAAAAAAAAAAAAAAAGQAAABWUDhMDQAAAC8A' +
        'AAAQBxAREYiI/gcA',
    ),
  },
  avif: {
    size: [2, 2],
    bytes: decoded(
      'AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADybWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAGxp' +
        'YmF2aWYAAAAADnBpdG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABGgAAAB0AAAAoaWluZgAAAAAAAQAAABppbmZlAgAAAAAB' +
        'AABhdjAxQ29sb3IAAAAAamlwcnAAAABLaXBjbwAAABRpc3BlAAAAAAAAAAIAAAACAAAAEHBpeGkAAAAAAwgICAAAAAxhdjFDgQ0MAAAA' +
        'ABNjb2xybmNseAACAAIAAYAAAAAXaXBtYQAAAAAAAAABAAEEAQKDBAAAACVtZGF0EgAKCBgANogQEAwgMg8f8D///8WfhwB8+ErK42A=',
    ),
  },
} as const

/** A text is Latin-1, a number is a byte. */
export type ByteSource = string | number | readonly number[] | Uint8Array

/** Concatenates parts. */
export function bytesOf(...parts: readonly ByteSource[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(
    parts.flatMap((part) => {
      if (typeof part === 'string') return Array.from(part, (sign) => sign.charCodeAt(0))
      return typeof part === 'number' ? [part] : [...part]
    }),
  )
}

/** Big-endian. */
export function big(value: number, length: number): readonly number[] {
  return Array.from({ length }, (_, index) => Math.floor(value / 2 ** (8 * (length - 1 - index))) % 256)
}

/** Little-endian. */
export function little(value: number, length: number): readonly number[] {
  return big(value, length).toReversed()
}

/** The start of a PNG. */
export function pngHead(width: number, height: number, ...chunks: readonly string[]): Uint8Array<ArrayBuffer> {
  return bytesOf(
    '\x89PNG\r\n\x1a\n',
    big(13, 4),
    'IHDR',
    big(width, 4),
    big(height, 4),
    [8, 6, 0, 0, 0],
    big(0, 4),
    ...chunks.map((name) => bytesOf(big(0, 4), name, big(0, 4))),
  )
}

/** A segment of a JPEG. */
export function jpegSegment(marker: number, ...parts: readonly ByteSource[]): Uint8Array<ArrayBuffer> {
  const body = bytesOf(...parts)
  return bytesOf(0xff, marker, big(body.length + 2, 2), body)
}

/** A JPEG up to its scan. */
export function jpegHead(width: number, height: number, ...before: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return bytesOf(
    [0xff, 0xd8],
    ...before,
    jpegSegment(0xc2, 8, big(height, 2), big(width, 2), [3, 1, 17, 0]),
    jpegSegment(0xda, [0]),
  )
}

/** EXIF data with only the orientation. */
export function exif(orientation: number, isLittle: boolean): Uint8Array<ArrayBuffer> {
  const number = isLittle ? little : big
  return jpegSegment(
    0xe1,
    'Exif\0\0',
    isLittle ? 'II' : 'MM',
    number(42, 2),
    number(8, 4),
    number(2, 2),
    number(0x010f, 2),
    number(2, 2),
    number(0, 4),
    number(0, 4),
    number(0x0112, 2),
    number(3, 2),
    number(1, 4),
    number(orientation, 2),
    number(0, 2),
  )
}

/** A GIF with images at these positions and sizes. */
export function gifOf(
  width: number,
  height: number,
  ...pictures: readonly (readonly [left: number, top: number, width: number, height: number])[]
): Uint8Array<ArrayBuffer> {
  const comment = bytesOf([0x21, 0xfe, 3], 'abc', 0)
  const blocks = pictures.map((numbers) =>
    bytesOf(0x2c, ...numbers.map((number) => little(number, 2)), [0x80, 1, 2, 3, 4, 5, 6, 2, 1, 0, 0]),
  )
  return bytesOf(
    'GIF89a',
    little(width, 2),
    little(height, 2),
    [0x81, 0, 0],
    new Uint8Array(12),
    comment,
    ...blocks,
    0x3b,
  )
}

/** A box of an ISO base media file. */
export function box(type: string, ...parts: readonly ByteSource[]): Uint8Array<ArrayBuffer> {
  const body = bytesOf(...parts)
  return bytesOf(big(body.length + 8, 4), type, body)
}

/** An AVIF with images of these sizes. */
export function avifOf(...sizes: readonly (readonly [width: number, height: number])[]): Uint8Array<ArrayBuffer> {
  const properties = sizes.map(([width, height]) => box('ispe', big(0, 4), big(width, 4), big(height, 4)))
  return bytesOf(
    box('ftyp', 'avif', big(0, 4), 'mif1', 'avif'),
    box('meta', big(0, 4), box('iprp', box('ipco', ...properties))),
  )
}
