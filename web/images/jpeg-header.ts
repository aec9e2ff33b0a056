import type { ByteReader } from './byte-reader.ts'

/** Facts from the segments of a JPEG before its data. */
export interface JpegHeader {
  readonly size: { readonly width: number; readonly height: number }
  readonly isUpright: boolean
}

/** Reads the segments (ITU-T T.81 annex B) up to the first scan. `undefined` if no frame comes before it. */
export function jpegHeader(reader: ByteReader): JpegHeader | undefined {
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
