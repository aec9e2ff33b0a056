import { insertMissing, readText, replaceValue } from '../../bytes/fill.ts'
import { checkUtf8, JsonCursor, JsonSyntaxError, nameTable } from '../../bytes/json-cursor.ts'
import { runInSlices, runThrough, skip, sliceBytes, type Pace, type Walk } from '../../bytes/pace.ts'
import { applyEdits, type Edit } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import { encodeJson } from '../exact-json.ts'
import type { AnsweredError } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { WholeReply } from '../reply.ts'
import type { Span } from '../request-shape.ts'
import { errorWithin } from '../upstream-error.ts'
import { readUsage, type Usage } from '../usage.ts'
import type { EmbeddingsRequest } from './request.ts'
import { floatsIn, numbersAt, widthAt, Widths } from './vectors.ts'

const topNames = nameTable(['object', 'model', 'data', 'usage', 'error'])
const dataNames = nameTable(['object', 'index', 'embedding'])

/** Errors are short; larger answers are not parsed for one. */
const errorBytesMax = 64 * 1024

/**
 * Inspects and repairs an answer in the upstream's own bytes. Fills in required members, and encodes floats as base64
 * if the request asks for it.
 *
 * @throws {MalformedAnswer} for a malformed answer, and for one without one embedding of the same width per input
 */
export function readEmbeddings(body: Uint8Array, request: EmbeddingsRequest): WholeReply | AnsweredError {
  try {
    return runThrough(readTop(new JsonCursor(body), request, { limit: Infinity }))
  } catch (error) {
    return failureOf(body, error)
  }
}

/** As {@link readEmbeddings}, awaiting `pause` between pieces of work of some milliseconds. */
export async function readLargeEmbeddings(
  body: Uint8Array,
  request: EmbeddingsRequest,
  pause: () => Promise<void>,
): Promise<WholeReply | AnsweredError> {
  try {
    return await runInSlices(readTop(new JsonCursor(body), request, { limit: sliceBytes }), pause)
  } catch (error) {
    return failureOf(body, error)
  }
}

function failureOf(body: Uint8Array, error: unknown): AnsweredError {
  const answered = body.length > errorBytesMax ? undefined : errorWithin(body)
  if (answered !== undefined) return { kind: 'error', error: answered }
  if (!(error instanceof JsonSyntaxError)) throw error
  throw new MalformedAnswer('malformed', `the answer is not JSON: ${error.message}`, { cause: error })
}

function* readTop(cursor: JsonCursor, request: EmbeddingsRequest, pace: Pace): Walk<WholeReply> {
  if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'the answer is not a JSON object')
  const edits: Edit[] = []
  let usage: Usage | undefined
  let model: string | undefined
  let count = 0
  let seen = 0
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(topNames)
    seen |= 1 << code
    switch (code) {
      case 0:
        if (cursor.peek() === 'string') cursor.skip()
        else replaceValue(cursor, edits, '"list"')
        break
      case 1:
        model = readText(cursor, edits, JSON.stringify(request.model))
        break
      case 2:
        count = yield* readData(cursor, edits, request, pace)
        break
      case 3:
        usage = readUsage(cursor, [])
        break
      case 4:
        if (cursor.isFilled()) throw new MalformedAnswer('malformed', 'the answer is an error')
        break
      default:
        yield* skip(cursor, pace)
    }
  }
  const end = cursor.position - 1
  cursor.end()
  if (cursor.hasHighBytes) yield* checkUtf8(cursor.bytes, pace)
  if (count !== request.inputs)
    throw new MalformedAnswer('malformed', `the answer has ${count} embeddings for ${request.inputs} inputs`)
  if ((seen & 3) !== 3) insertMissing(edits, end, seen, ['"object":"list"', `"model":${JSON.stringify(request.model)}`])
  const body = applyEdits(cursor.bytes, edits)
  return { kind: 'whole', body, usage: usage && promptUsage(usage), isEmpty: false, model }
}

/** Embeddings have no answer tokens, and some providers report the total alone. */
function promptUsage(usage: Usage): Usage {
  const { promptTokens = 0, totalTokens = 0 } = usage
  return { ...usage, promptTokens: totalTokens > promptTokens ? totalTokens : usage.promptTokens, completionTokens: 0 }
}

/** Passes `data`, an array of embeddings, and counts them. */
function* readData(cursor: JsonCursor, edits: Edit[], request: EmbeddingsRequest, pace: Pace): Walk<number> {
  const kind = cursor.peek()
  if (kind !== 'array') throw new MalformedAnswer('malformed', `data is a ${kind}`)
  const widths = new Widths(request)
  let count = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', `data[${count}] is no object`)
    let hasEmbedding = false
    let seen = 0
    for (let member = cursor.firstMember(); member; member = cursor.nextMember()) {
      const code = cursor.nameCode(dataNames)
      if (code === 2) {
        widths.add(yield* readEmbedding(cursor, edits, request, pace), count)
        hasEmbedding = true
      } else if (code === 1 && cursor.peek() !== 'number') replaceValue(cursor, edits, String(count))
      else yield* skip(cursor, pace)
      seen |= 1 << code
    }
    if (!hasEmbedding) throw new MalformedAnswer('malformed', `data[${count}] has no embedding`)
    if ((seen & 3) !== 3) insertMissing(edits, cursor.position - 1, seen, ['"object":"embedding"', `"index":${count}`])
    count++
    if (cursor.position >= pace.limit) yield pace
  }
  return count
}

/**
 * Passes an embedding: an array of numbers, base64, or an object of both. Numbers become base64 and base64 becomes
 * numbers if the caller asked for the other form.
 *
 * @returns its width; 0: it is none. Undefined: it has a form that is not checked
 */
function* readEmbedding(
  cursor: JsonCursor,
  edits: Edit[],
  request: EmbeddingsRequest,
  pace: Pace,
): Walk<number | undefined> {
  const kind = cursor.peek()
  const start = cursor.position
  yield* skip(cursor, pace)
  const { bytes, position: end } = cursor
  switch (kind) {
    case 'array':
      return readNumbers(bytes, { start, end }, edits, request)
    case 'string':
      return request.isUsual ? readFloats(bytes, { start, end }, edits, request) : undefined
    case 'object':
      return undefined
    default:
      return 0
  }
}

function readNumbers(bytes: Uint8Array, span: Span, edits: Edit[], { isBase64 }: EmbeddingsRequest) {
  const width = widthAt(bytes, span)
  if (!isBase64 || width === undefined || width === 0) return width
  const numbers = numbersAt(bytes, span)
  if (numbers !== undefined) edits.push({ ...span, replacement: encode(`"${base64Of(numbers)}"`) })
  return numbers?.length ?? 0
}

function readFloats(bytes: Uint8Array, span: Span, edits: Edit[], { isBase64 }: EmbeddingsRequest): number {
  const floats = floatsIn(bytes, span)
  if (!isBase64 && floats !== undefined) edits.push({ ...span, replacement: encode(JSON.stringify([...floats])) })
  return floats?.length ?? 0
}

/** Writes an answer with one vector for each input. */
export function embeddingsReply(
  vectors: readonly (readonly number[])[],
  { model, isBase64 }: EmbeddingsRequest,
  usage: Usage,
): WholeReply {
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: isBase64 ? base64Of(vector) : vector,
  }))
  const counted = { prompt_tokens: usage.promptTokens, total_tokens: usage.promptTokens }
  return { kind: 'whole', body: encodeJson({ object: 'list', data, model, usage: counted }), usage, isEmpty: false }
}

/** Encodes numbers as base64 of little-endian 32-bit floats, for `encoding_format: base64`. */
export function base64Of(numbers: readonly number[]): string {
  const bytes = new DataView(new ArrayBuffer(numbers.length * 4))
  for (const [index, number] of numbers.entries()) bytes.setFloat32(index * 4, number, true)
  return Buffer.from(bytes.buffer).toString('base64')
}
