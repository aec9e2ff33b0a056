import { avifSize } from './avif-size.ts'
import { byteReader, type ByteReader } from './byte-reader.ts'

/** An image format that can be sent. */
export type ImageKind = 'png' | 'jpeg' | 'webp' | 'gif' | 'avif'

/** Width and height, in pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** File type by signature, regardless of the name. */
export type ImageHeader =
  | {
      readonly kind: ImageKind
      /** Largest size in the file, before rotation. */
      readonly size: Size
      /** False if EXIF says to rotate or mirror (orientation 2 to 8). */
      readonly isUpright: boolean
      readonly isAnimated: boolean
    }
  /** The signature matches, but the header is invalid. */
  | { readonly kind: 'broken'; readonly of: ImageKind }
  /** An image format that cannot be sent. */
  | { readonly kind: 'svg' | 'heic' }
  | { readonly kind: 'unknown' }

/** Reads type and size of a file without decoding it. Never throws. */
export function readImageHeader(bytes: Uint8Array): ImageHeader {
  const reader = byteReader(bytes)
  const kind = signatureOf(reader)
  if (kind === 'svg' || kind === 'heic' || kind === 'unknown') return { kind }
  const facts = factsOf(kind, reader)
  if (facts === undefined || facts.size.width < 1 || facts.size.height < 1) return { kind: 'broken', of: kind }
  return { kind, isUpright: true, isAnimated: false, ...facts }
}

interface Facts {
  readonly size: Size
  readonly isUpright?: boolean
  readonly isAnimated?: boolean
}

const heicBrands = ['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'hevm', 'hevs', 'mif1', 'msf1']

function signatureOf(reader: ByteReader): ImageKind | 'svg' | 'heic' | 'unknown' {
  if (reader.text(0, 8) === '\x89PNG\r\n\x1a\n') return 'png'
  if (reader.text(0, 3) === '\xff\xd8\xff') return 'jpeg'
  if (/^GIF8[79]a/.test(reader.text(0, 6))) return 'gif'
  if (reader.text(0, 4) === 'RIFF' && reader.text(8, 4) === 'WEBP') return 'webp'
  if (reader.text(4, 4) === 'ftyp') return brandOf(reader)
  return isSvg(reader) ? 'svg' : 'unknown'
}

/** Brand of an ISO base media file (ISO/IEC 14496-12 section 4.3), such as AVIF and HEIC. */
function brandOf(reader: ByteReader): 'avif' | 'heic' | 'unknown' {
  const end = Math.min(reader.big32(0), reader.length, 256)
  const brands: string[] = []
  for (let offset = 8; offset + 4 <= end; offset += 4) if (offset !== 12) brands.push(reader.text(offset, 4))
  if (brands.includes('avif') || brands.includes('avis')) return 'avif'
  return brands.some((brand) => heicBrands.includes(brand)) ? 'heic' : 'unknown'
}

/** Text with the element near its start, with or without a byte order mark. */
function isSvg(reader: ByteReader): boolean {
  const start = reader.text(0, 1024)
  return /^(?:\xef\xbb\xbf)?\s*</.test(start) && /<svg[\s>]/i.test(start)
}

function factsOf(kind: ImageKind, reader: ByteReader): Facts | undefined {
  switch (kind) {
    case 'png':
      return pngFacts(reader)
    case 'jpeg':
      return jpegHeader(reader)
    case 'gif':
      return gifFacts(reader)
    case 'webp':
      return webpFacts(reader)
    case 'avif': {
      const size = avifSize(reader)
      return size === undefined ? undefined : { size }
    }
  }
}

/** PNG section 11.2.1: IHDR comes first. An `acTL` before the first data marks an animation (section 11.3.6). */
function pngFacts(reader: ByteReader): Facts | undefined {
  if (reader.text(12, 4) !== 'IHDR') return undefined
  const size = { width: reader.big32(16), height: reader.big32(20) }
  for (let offset = 8; offset + 8 <= reader.length; offset += 12 + reader.big32(offset)) {
    const chunk = reader.text(offset + 4, 4)
    if (chunk === 'acTL') return { size, isAnimated: true }
    if (chunk === 'IDAT') break
  }
  return { size }
}

/** GIF89a sections 18 to 23. Decoders enlarge the screen to the first image. */
function gifFacts(reader: ByteReader): Facts | undefined {
  let size: Size = { width: reader.little16(6), height: reader.little16(8) },
    pictures = 0
  let offset = 13 + colourTableBytes(reader.at(10))
  while (offset < reader.length && pictures < 2) {
    const block = reader.at(offset)
    if (block === 0x2c) {
      pictures += 1
      size = larger(size, {
        width: reader.little16(offset + 1) + reader.little16(offset + 5),
        height: reader.little16(offset + 3) + reader.little16(offset + 7),
      })
      offset = afterSubBlocks(reader, offset + 11 + colourTableBytes(reader.at(offset + 9)))
    } else if (block === 0x21) offset = afterSubBlocks(reader, offset + 2)
    else break
  }
  return pictures === 0 ? undefined : { size, isAnimated: pictures > 1 }
}

function colourTableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1)
}

function afterSubBlocks(reader: ByteReader, start: number): number {
  let offset = start
  while (offset < reader.length && reader.at(offset) !== 0) offset += 1 + reader.at(offset)
  return offset + 1
}

/** RFC 9649 sections 2.4 to 2.7. */
function webpFacts(reader: ByteReader): Facts | undefined {
  switch (reader.text(12, 4)) {
    case 'VP8 ':
      return reader.text(23, 3) === '\x9d\x01\x2a'
        ? { size: { width: reader.little16(26) & 0x3fff, height: reader.little16(28) & 0x3fff } }
        : undefined
    case 'VP8L': {
      if (reader.at(20) !== 0x2f) return undefined
      const bits = reader.little32(21)
      return { size: { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 } }
    }
    case 'VP8X':
      return {
        size: { width: reader.little24(24) + 1, height: reader.little24(27) + 1 },
        isAnimated: (reader.at(20) & 0x02) !== 0,
      }
    default:
      return undefined
  }
}

function larger(one: Size, other: Size): Size {
  return { width: Math.max(one.width, other.width), height: Math.max(one.height, other.height) }
}

/** Facts from the segments of a JPEG before its data. */
interface JpegHeader {
  readonly size: { readonly width: number; readonly height: number }
  readonly isUpright: boolean
}

/** Reads the segments (ITU-T T.81 annex B) up to the first scan. `undefined` if no frame comes before it. */
function jpegHeader(reader: ByteReader): JpegHeader | undefined {
  let size: JpegHeader['size'] | undefined,
    orientation = 1
  let offset = 2
  while (offset + 4 <= reader.length) {
    if (reader.at(offset) !== 0xff) return undefined
    const marker = reader.at(offset + 1)
    // Fill bytes may precede a marker; some markers have no segment.
    if (marker === 0xff) {
      offset += 1
      continue
    }
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      offset += 2
      continue
    }
    if (marker === 0xda || marker === 0xd9) break
    const length = reader.big16(offset + 2)
    if (length < 2) return undefined
    if (isFrame(marker)) size ??= { height: reader.big16(offset + 5), width: reader.big16(offset + 7) }
    else if (marker === 0xe1) orientation = exifOrientation(reader, offset + 4, length - 2) ?? orientation
    offset += 2 + length
  }
  return size === undefined ? undefined : { size, isUpright: orientation === 1 }
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

const orientationTag = 0x0112

/** EXIF 2.32 section 4.6: a TIFF header, and the entries of its first directory. */
function exifOrientation(reader: ByteReader, start: number, length: number): number | undefined {
  if (reader.text(start, 6) !== 'Exif\0\0') return undefined
  const tiff = start + 6,
    end = start + length
  const isLittle = reader.text(tiff, 2) === 'II'
  const number16 = isLittle ? reader.little16 : reader.big16,
    number32 = isLittle ? reader.little32 : reader.big32
  const directory = tiff + number32(tiff + 4)
  const entries = directory + 2 <= end ? number16(directory) : 0
  for (let index = 0; index < entries; index += 1) {
    const entry = directory + 2 + index * 12
    if (entry + 12 > end) return undefined
    if (number16(entry) === orientationTag) return number16(entry + 8)
  }
  return undefined
}
