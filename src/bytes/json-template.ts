import { endOfPlainText } from './json-cursor.ts'

/** A value of an event that may differ in the next one: the inside of a string, or the digits of a number. */
export interface Hole {
  readonly kind: 'text' | 'digits'
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

/** JSON around values that differ from one event of a stream to the next. */
export interface JsonTemplate {
  /** Of the values, in order. */
  readonly kinds: readonly Hole['kind'][]
  /** The bytes before each value, and those behind the last one. */
  readonly pieces: readonly Uint8Array[]
}

const SPACE = 0x20
const CLOSE_OBJECT = 0x7d
const ZERO = 0x30
const NINE = 0x39

/**
 * Makes a template of valid JSON without line breaks.
 *
 * @param holes in order; texts must have neither escapes nor bytes above 0x7e
 */
export function jsonTemplate(bytes: Uint8Array, holes: readonly Hole[]): JsonTemplate {
  const pieces: Uint8Array[] = []
  let from = 0
  for (const { start, end } of holes) {
    pieces.push(withoutPadding(bytes.subarray(from, start)))
    from = end
  }
  pieces.push(withoutPadding(bytes.subarray(from)))
  return { kinds: holes.map(({ kind }) => kind), pieces }
}

/**
 * Whether bytes are the JSON of a template with other values. Then they are valid JSON, too. Texts must be plain, as in
 * the template. Spaces behind `}` do not count: Anthropic pads its events with them.
 *
 * @param found gets the start and the end of each value
 */
export function isLike(bytes: Uint8Array, { kinds, pieces }: JsonTemplate, found: number[]): boolean {
  let position = 0
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index]
    if (piece === undefined) return false
    position = endOfPiece(bytes, position, piece)
    if (position === -1) return false
    const kind = kinds[index]
    if (kind === undefined) break
    const end = kind === 'text' ? endOfPlainText(bytes, position) : endOfDigits(bytes, position)
    if (end === -1) return false
    found[index * 2] = position
    found[index * 2 + 1] = end
    position = end
  }
  return pastPadding(bytes, position) === bytes.length
}

/** The end of a piece at `from`; -1: other bytes are there. */
function endOfPiece(bytes: Uint8Array, from: number, piece: Uint8Array): number {
  let position = from
  for (let index = 0; index < piece.length; index++) {
    const expected = piece[index]
    if (bytes[position] !== expected) {
      position = pastPadding(bytes, position)
      if (bytes[position] !== expected) return -1
    }
    position++
  }
  return position
}

function pastPadding(bytes: Uint8Array, from: number): number {
  let position = from
  if (bytes[position - 1] === CLOSE_OBJECT) while (bytes[position] === SPACE) position++
  return position
}

/** The end of a number at `from`; -1 without a number, or with a leading zero. */
function endOfDigits(bytes: Uint8Array, from: number): number {
  let position = from
  for (let byte = bytes[position]; byte !== undefined && byte >= ZERO && byte <= NINE; byte = bytes[position])
    position++
  const isNumber = position > from && (bytes[from] !== ZERO || position === from + 1)
  return isNumber ? position : -1
}

function withoutPadding(piece: Uint8Array): Uint8Array {
  let isPadding = false
  return piece.filter((byte) => {
    isPadding = byte === CLOSE_OBJECT || (isPadding && byte === SPACE)
    return !isPadding || byte === CLOSE_OBJECT
  })
}
