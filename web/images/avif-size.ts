import type { ByteReader } from './byte-reader.ts'

/** Limits for nesting and number of boxes; images need few. */
const depthMax = 8
const boxesMax = 2_000

/** Boxes that contain others, with the number of bytes before those. */
const containers: Readonly<Record<string, number>> = { meta: 4, iprp: 0, ipco: 0, moov: 0, trak: 0 }

interface Walk {
  boxes: number
  width: number
  height: number
}

/**
 * Largest image size in an AVIF: its `ispe` properties (ISO/IEC 23008-12 section 6.5.3) and the tracks of a sequence.
 */
export function avifSize(reader: ByteReader): { readonly width: number; readonly height: number } | undefined {
  const walk: Walk = { boxes: 0, width: 0, height: 0 }
  readBoxes(reader, 0, reader.length, walk, 0)
  return walk.width === 0 || walk.height === 0 ? undefined : { width: walk.width, height: walk.height }
}

function readBoxes(reader: ByteReader, start: number, end: number, walk: Walk, depth: number): void {
  let offset = start
  while (offset + 8 <= end && walk.boxes < boxesMax) {
    walk.boxes += 1
    const type = reader.text(offset + 4, 4),
      size = sizeOfBox(reader, offset, end)
    const inner = offset + (reader.big32(offset) === 1 ? 16 : 8)
    if (size < inner - offset) return
    const before = containers[type]
    if (before !== undefined && depth < depthMax)
      readBoxes(reader, inner + before, Math.min(end, offset + size), walk, depth + 1)
    else noteSize(reader, type, inner, walk)
    offset += size
  }
}

/** 1: a 64-bit size follows; 0: the box extends to the end. */
function sizeOfBox(reader: ByteReader, offset: number, end: number): number {
  const size = reader.big32(offset)
  if (size === 0) return end - offset
  return size === 1 ? reader.big32(offset + 8) * 2 ** 32 + reader.big32(offset + 12) : size
}

function noteSize(reader: ByteReader, type: string, inner: number, walk: Walk): void {
  if (type === 'ispe') note(walk, reader.big32(inner + 4), reader.big32(inner + 8))
  // A track header ends with width and height as 16.16 fixed point.
  if (type === 'tkhd') {
    const at = inner + (reader.at(inner) === 1 ? 88 : 76)
    note(walk, reader.big16(at), reader.big16(at + 4))
  }
}

function note(walk: Walk, width: number, height: number): void {
  walk.width = Math.max(walk.width, width)
  walk.height = Math.max(walk.height, height)
}
