import { JsonSyntaxError, type JsonCursor, type NameTable } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import { latin1 } from '../../bytes/text.ts'
import { MalformedAnswer } from '../malformed-answer.ts'

/** A vector in an answer, by the offsets of its JSON. */
export interface VectorSpan {
  readonly start: number
  /** Exclusive. */
  readonly end: number
  /** Its place among the others, if the answer says so. */
  readonly index: number | undefined
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
    let vector: Omit<VectorSpan, 'index'> | undefined
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
    if (vector === undefined || numbersAt(cursor.bytes, vector) === undefined) throw notNumbers()
    found.push({ ...vector, index })
    if (cursor.position >= pace.limit) yield pace
  }
  return found
}

/** The numbers of a vector. Undefined for an empty list and for other values. */
export function numbersAt(bytes: Uint8Array, { start, end }: Pick<VectorSpan, 'start' | 'end'>) {
  const value: unknown = JSON.parse(latin1(bytes, start, end))
  return isNumbers(value) && value.length > 0 ? value : undefined
}

export function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number')
}

/** The JSON of a vector. */
export function bytesOf(bytes: Uint8Array, { start, end }: Pick<VectorSpan, 'start' | 'end'>): Uint8Array {
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
