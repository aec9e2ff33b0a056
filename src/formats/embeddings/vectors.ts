import { JsonSyntaxError, type JsonCursor, type NameTable } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import { latin1 } from '../../bytes/text.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Span } from '../request-shape.ts'
import type { EmbeddingsRequest } from './request.ts'

/** A vector in an answer. */
export interface VectorSpan extends Span {
  /** Its place among the others, if the answer says so. */
  readonly index: number | undefined
  /** How many numbers it has. */
  readonly width: number
}

/**
 * Passes a list of objects with a vector each, as providers answer, and finds the vectors.
 *
 * @param names the first is that of the vector, the second that of its place
 * @throws {MalformedAnswer} for an element without a list of numbers
 */
export function* findVectors(cursor: JsonCursor, names: NameTable, pace: Pace): Walk<readonly VectorSpan[]> {
  const found: VectorSpan[] = []
  if (cursor.peek() !== 'array') throw new MalformedAnswer('malformed', 'the answer has no list of embeddings')
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    if (cursor.peek() !== 'object') throw notNumbers()
    let vector: Span | undefined
    let index: number | undefined
    for (let member = cursor.firstMember(); member; member = cursor.nextMember()) {
      const code = cursor.nameCode(names)
      const kind = cursor.peek()
      const start = cursor.position
      if (code === 1 && kind === 'number') {
        index = cursor.number()
        continue
      }
      yield* skip(cursor, pace)
      if (code === 0 && kind === 'array') vector = { start, end: cursor.position }
    }
    const width = vector && widthAt(cursor.bytes, vector)
    if (vector === undefined || width === undefined || width === 0) throw notNumbers()
    found.push({ ...vector, index, width })
    if (cursor.position >= pace.limit) yield pace
  }
  return found
}

/** The numbers of a vector. Undefined for an empty list and for other values. */
export function numbersAt(bytes: Uint8Array, { start, end }: Span) {
  const value: unknown = JSON.parse(latin1(bytes, start, end))
  return isNumbers(value) && value.length > 0 ? value : undefined
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number')
}

/** The widths of the vectors of one answer. */
export class Widths {
  readonly #request: Pick<EmbeddingsRequest, 'dimensions' | 'isUsual'>
  #width: number | undefined

  constructor(request: Pick<EmbeddingsRequest, 'dimensions' | 'isUsual'>) {
    this.#request = request
  }

  /**
   * @param width 0: it is no vector. Undefined: it is not known
   * @param index its place, for the message
   * @throws {MalformedAnswer} for one that is none, or not as wide as the others; `unasked` for another width than the
   *   caller asked for
   */
  add(width: number | undefined, index: number): void {
    if (width === undefined) return
    if (width === 0) throw new MalformedAnswer('malformed', `data[${index}] has no list of numbers`)
    const { dimensions, isUsual } = this.#request
    if (!isUsual) return
    this.#width ??= width
    if (width !== this.#width)
      throw new MalformedAnswer('malformed', `data[${index}] has ${width} dimensions, not ${this.#width}`)
    if (dimensions !== undefined && width !== dimensions)
      throw new MalformedAnswer('unasked', `the answer has ${width} dimensions, not ${dimensions}`)
  }
}

/**
 * How many numbers an array has, without parsing it. 0 for other content; undefined for lists of lists, as models give
 * that embed each token.
 *
 * @param span of valid JSON
 */
export function widthAt(bytes: Uint8Array, { start, end }: Span): number | undefined {
  let commas = 0
  let digits = 0
  for (let position = start + 1; position < end - 1; position++) {
    const byte = bytes[position] ?? 0
    if (byte === comma) commas++
    else if (byte >= digitNought && byte <= digitNine) digits++
    else if (byte === bracket && digits === 0) return undefined
    else if (byte === quote || (byte > digitNine && byte !== exponent && byte !== capitalExponent)) return 0
  }
  return digits === 0 ? 0 : commas + 1
}

const [quote, comma, digitNought, digitNine] = [0x22, 0x2c, 0x30, 0x39]
const [capitalExponent, bracket, exponent] = [0x45, 0x5b, 0x65]

/** The little-endian 32-bit floats of a base64 string. Undefined for other strings. */
export function floatsIn(bytes: Uint8Array, { start, end }: Span): Float32Array | undefined {
  const text = latin1(bytes, start + 1, end - 1).replaceAll('\\/', '/')
  const decoded = Buffer.from(text, 'base64')
  const isWhole = decoded.length > 0 && decoded.length % 4 === 0
  // Characters of other alphabets would have been skipped.
  if (!isWhole || decoded.toString('base64').replaceAll('=', '') !== text.replaceAll('=', '')) return undefined
  const floats = new Float32Array(decoded.length / 4)
  for (let index = 0; index < floats.length; index++) {
    const float = decoded.readFloatLE(index * 4)
    if (!Number.isFinite(float)) return undefined
    floats[index] = float
  }
  return floats
}

/** The JSON of a vector. */
export function bytesOf(bytes: Uint8Array, { start, end }: Span): Uint8Array {
  return bytes.subarray(start, end)
}

/** The failure of an answer that is not JSON; other errors as they are. */
export function malformedFor(error: unknown): unknown {
  return error instanceof JsonSyntaxError
    ? new MalformedAnswer('malformed', 'the answer is not JSON', { cause: error })
    : error
}

function notNumbers(): MalformedAnswer {
  return new MalformedAnswer('malformed', 'an embedding is no list of numbers')
}
