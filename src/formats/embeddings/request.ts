import type { JsonCursor } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import type { Ask } from '../ask.ts'
import { CheckedNames, MemberList, memberName } from '../checked-names.ts'
import { invalidRequest } from '../error.ts'
import { numberOf, parseJsonBytes } from '../exact-json.ts'
import { checkChoice, checkNumber, readModel } from '../fields.ts'
import { missing, wrongType } from '../request-fault.ts'

/** A checked request for embeddings (docs/api.md). */
export interface EmbeddingsRequest extends Ask {
  readonly format: 'embeddings'
  readonly stream: false
  /** Number of embeddings that the answer must have. */
  readonly inputs: number
  /** The caller asked for embeddings as base64 of little-endian 32-bit floats. */
  readonly isBase64: boolean
  /** Numbers of an embedding. Undefined: the model's own. */
  readonly dimensions: number | undefined
  /** No further field may ask for embeddings of another kind, such as bits. */
  readonly isUsual: boolean
}

const checked = new CheckedNames(['model', 'input', 'encoding_format', 'dimensions', 'user', 'service_tier'])
const membersMax = 1_000
const encodings = ['float', 'base64']

/** Checks a request in place. Members that docs/api.md does not name pass unread. */
export function* readRequest(cursor: JsonCursor, pace: Pace): Walk<EmbeddingsRequest> {
  checkIsObject(cursor)
  const list = new MemberList(checked, membersMax)
  const { members } = list
  let model: string | undefined
  let inputs: number | undefined
  let isBase64 = false
  let dimensions: number | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const start = cursor.nameStart
    const code = cursor.nameCode(checked.table)
    const name = memberName(cursor, checked.names, code)
    const valueStart = cursor.position
    switch (code) {
      case 0:
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        model = readModel(cursor, valueStart, model)
        break
      case 1:
        inputs = yield* readInput(cursor, pace)
        break
      case 2:
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        checkChoice(cursor, valueStart, 'encoding_format', encodings)
        // Only `"base64"` is longer than `"float"`.
        isBase64 = cursor.position - valueStart > '"float"'.length
        break
      case 3:
        checkNumber(cursor, 'dimensions', { kind: 'integer', min: 1, max: Number.MAX_SAFE_INTEGER })
        dimensions = numberOf(parseJsonBytes(cursor.bytes.subarray(valueStart, cursor.position)))
        break
      default:
        if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    }
    list.add({ name, start, valueStart, end: cursor.position }, code)
    if (cursor.position >= pace.limit) yield pace
  }
  cursor.end()
  if (model === undefined) throw missing('model')
  if (inputs === undefined) throw missing('input')
  const isUsual = !members.some(({ name }) => otherKind.test(name))
  return {
    format: 'embeddings',
    body: cursor.bytes,
    model,
    stream: false,
    members,
    inputs,
    isBase64,
    dimensions,
    isUsual,
  }
}

function checkIsObject(cursor: JsonCursor): void {
  if (cursor.peek() !== 'object') throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
}

/** Fields of Voyage, Cohere and Jina. */
const otherKind = /dtype|embedding_type/

/** Passes `input` and counts its inputs: a text, or an array of texts, of tokens, or of arrays of tokens. */
function* readInput(cursor: JsonCursor, pace: Pace): Walk<number> {
  const kind = cursor.peek()
  if (kind === 'string') {
    if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    return 1
  }
  if (kind !== 'array') throw wrongType('input', 'a string or an array', kind)
  let count = 0
  let isTokens = false
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const element = cursor.peek()
    if (count === 0) isTokens = element === 'number'
    // Some providers embed pictures: their inputs are objects.
    if (isTokens ? element !== 'number' : !['string', 'array', 'object'].includes(element))
      throw wrongType(`input[${count}]`, isTokens ? 'a number' : 'a string or an array of numbers', element)
    if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    if (cursor.position >= pace.limit) yield pace
    count++
  }
  if (count === 0) throw invalidRequest('invalid_value', "'input' must not be an empty array.", 'input')
  return isTokens ? 1 : count
}
