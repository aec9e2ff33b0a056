import { endOfPlainText } from '../bytes/json-cursor.ts'
import { isLike, jsonTemplate, type Hole, type JsonTemplate } from '../bytes/json-template.ts'
import { encode, latin1 } from '../bytes/text.ts'
import type { TextEvent } from './answer.ts'
import { listOf } from './exact-json.ts'

/** Recognises events of one stream that differ from an earlier one in their text and their numbers only. */
export interface KnownTexts {
  /** The text of such an event. Undefined for any other. */
  read(name: string, data: Uint8Array): TextEvent | undefined
  /** Keeps an event if its only part is one text. @param read see `AnswerReader` */
  keep(name: string, data: Uint8Array, read: unknown): void
}

/** After this many events without a similar one, a stream's events are no longer compared. */
const triesMax = 16

/** Starts a stream. */
export function knownTexts(): KnownTexts {
  let known:
    | { readonly name: string; readonly template: JsonTemplate; readonly place: number; event: TextEvent }
    | undefined
  let triesLeft = triesMax
  const places: number[] = []

  return {
    read(name, data) {
      if (known === undefined || name !== known.name || !isLike(data, known.template, places)) return undefined
      const [start = 0, end = 0] = [places[known.place], places[known.place + 1]]
      if (start === end) return undefined
      triesLeft = triesMax
      return { ...known.event, text: latin1(data, start, end) }
    },

    keep(name, data, read) {
      const [event, more] = listOf(read)
      if (triesLeft === 0 || more !== undefined || !isText(event)) return
      triesLeft--
      const text = encode(event.text)
      const start = onlyPlace(data, text)
      if (start === undefined) return
      const holes = numbersIn(data)
      const place = holes.findIndex((hole) => hole.start > start)
      const own: Hole = { kind: 'text', start, end: start + text.length }
      const all = holes.toSpliced(place === -1 ? holes.length : place, 0, own)
      known = { name, template: jsonTemplate(data, all), place: all.indexOf(own) * 2, event }
    },
  }
}

function isText(event: unknown): event is TextEvent {
  return typeof event === 'object' && event !== null && 'kind' in event && event.kind === 'text'
}

/** Where a plain text is in JSON, as a string. Undefined if it is not there once, or may be there with escapes. */
function onlyPlace(data: Uint8Array, text: Uint8Array): number | undefined {
  if (endOfPlainText(text, 0) < text.length || data.includes(backslash)) return undefined
  const quoted = Buffer.concat([quoteBytes, text, quoteBytes])
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length)
  const first = bytes.indexOf(quoted)
  return first === -1 || bytes.includes(lineFeed) || bytes.includes(quoted, first + 1) ? undefined : first + 1
}

/** The runs of digits outside of strings. */
function numbersIn(data: Uint8Array): readonly Hole[] {
  const holes: Hole[] = []
  for (let position = 0; position < data.length; position++) {
    if (data[position] === quote) position = endOfString(data, position + 1)
    const start = position
    while (isDigit(data[position])) position++
    if (position > start) holes.push({ kind: 'digits', start, end: position })
  }
  return holes
}

/** Offset of the closing quote. */
function endOfString(data: Uint8Array, from: number): number {
  let position = from
  while (position < data.length && data[position] !== quote) position += data[position] === backslash ? 2 : 1
  return position
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

const quote = 0x22
const backslash = 0x5c
const lineFeed = 0x0a
const quoteBytes = encode('"')
