import { indexOfBytes, latin1 } from '../bytes/text.ts'
import { dataUrlsIn, hasNoSpace } from './data-urls.ts'

/** How a format names media in its requests. */
export interface MediaMarks {
  /** Text that each picture, sound or document has in a body, as often as `times`. */
  readonly texts: readonly string[]
  /** Default: 1. */
  readonly times?: number
}

/** The pictures, sounds and documents of a request. */
export interface Media {
  readonly count: number
  /** Bytes of their base64 in the body. */
  readonly bytes: number
}

/** Shorter texts in `data` are not searched for media. */
const mediaBytesMin = 256
const quote = 0x22
const encoder = new TextEncoder()
const dataMember = encoder.encode('"data"')

/** Makes the function that finds media in a body, in linear time: as data URLs, as base64, or by its address. */
export function mediaFinder({ texts, times = 1 }: MediaMarks = { texts: [] }): (body: Uint8Array) => Media {
  const marks = texts.map((text) => encoder.encode(text))
  return (body) => {
    let bytes = 0
    let count = 0
    for (const { start, end } of dataUrlsIn(body)) {
      bytes += end - start
      count += 1
    }
    for (let start = indexOfBytes(body, dataMember); start !== -1;) {
      const [from, end] = base64After(body, start + dataMember.length)
      bytes += end - from
      if (end > from) count += 1
      start = indexOfBytes(body, dataMember, end)
    }
    let named = 0
    for (const mark of marks) named += occurrences(body, mark)
    return { count: Math.max(count, Math.ceil(named / times)), bytes }
  }
}

/** The bounds of the base64 that is the value of a member whose name ended at `position`; equal if it is not base64. */
function base64After(body: Uint8Array, position: number): readonly [number, number] {
  let start = position
  while (isBetween(body[start])) start += 1
  if (body[start] !== quote) return [start, start]
  const end = indexOfBytes(body, quote, start + 1)
  if (end - start < mediaBytesMin) return [start, start]
  const isBase64 = /^[A-Za-z0-9+/_=-]+$/.test(latin1(body, start + 1, start + mediaBytesMin))
  return isBase64 && hasNoSpace(body, start, end) ? [start, end] : [start, start]
}

/** A colon, or white space around it. */
function isBetween(byte: number | undefined): boolean {
  return byte === 0x3a || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function occurrences(body: Uint8Array, text: Uint8Array): number {
  let count = 0
  for (let at = indexOfBytes(body, text); at !== -1; at = indexOfBytes(body, text, at + text.length)) count += 1
  return count
}
