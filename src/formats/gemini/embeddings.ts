import { JsonCursor, nameTable } from '../../bytes/json-cursor.ts'
import { runInSlices, runThrough, skip, sliceBytes, type Pace, type Walk } from '../../bytes/pace.ts'
import { join } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import { hasMoreValues } from '../../bytes/value-count.ts'
import type { Ask } from '../ask.ts'
import { base64Of } from '../embeddings/answer.ts'
import type { EmbeddingsRequest } from '../embeddings/request.ts'
import { bytesOf, findVectors, malformedFor, numbersAt, Widths, type VectorSpan } from '../embeddings/vectors.ts'
import { encodeJson, listOf, objectOf, parseJsonBytes } from '../exact-json.ts'
import type { PassThroughTarget } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { WholeReply } from '../reply.ts'
import { untranslatable } from '../untranslatable.ts'
import { resourceName } from './models.ts'

/** A request with more values would delay other requests. */
const valuesMax = 100_000
/** For an estimate: Gemini does not count the tokens of embeddings. */
const bytesPerToken = 4

/**
 * Writes a request for embeddings as Gemini's batchEmbedContents.
 *
 * @throws {UpstreamFailure} `bad_request` for inputs other than text
 */
export function writeEmbeddingsRequest(
  { body }: Ask,
  model: string,
  { overrides, defaults }: Pick<PassThroughTarget, 'overrides' | 'defaults'>,
): readonly Uint8Array[] {
  if (hasMoreValues(body, valuesMax)) throw untranslatable('A request of more than 100,000 values')
  const { dimensions, input } = objectOf(parseJsonBytes(body))
  const name = resourceName(model)
  const requests = textsOf(input).map((text) => ({
    ...defaults,
    model: name,
    content: { parts: [{ text }] },
    ...(dimensions === undefined || dimensions === null ? {} : { outputDimensionality: dimensions }),
    ...overrides,
  }))
  return [encodeJson({ requests })]
}

/**
 * Reads an answer of batchEmbedContents.
 *
 * @throws {MalformedAnswer} without one embedding per input
 */
export function readEmbeddingsAnswer(body: Uint8Array, request: EmbeddingsRequest): WholeReply {
  try {
    return runThrough(readAnswer(new JsonCursor(body), request, { limit: Infinity }))
  } catch (error) {
    throw malformedFor(error)
  }
}

/** As {@link readEmbeddingsAnswer}, awaiting `pause` between pieces of work of some milliseconds. */
export async function readLargeEmbeddingsAnswer(
  body: Uint8Array,
  request: EmbeddingsRequest,
  pause: () => Promise<void>,
): Promise<WholeReply> {
  try {
    return await runInSlices(readAnswer(new JsonCursor(body), request, { limit: sliceBytes }), pause)
  } catch (error) {
    throw malformedFor(error)
  }
}

const topNames = nameTable(['embeddings'])
const vectorNames = nameTable(['values'])

function* readAnswer(cursor: JsonCursor, request: EmbeddingsRequest, pace: Pace): Walk<WholeReply> {
  if (cursor.peek() !== 'object') throw new MalformedAnswer('malformed', 'the answer is not an object')
  let vectors: readonly VectorSpan[] = []
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(topNames) === 0) vectors = yield* findVectors(cursor, vectorNames, pace)
    else yield* skip(cursor, pace)
  }
  cursor.finish()
  if (vectors.length !== request.inputs)
    throw new MalformedAnswer('malformed', `the answer has ${vectors.length} embeddings for ${request.inputs} inputs`)
  const { bytes } = cursor
  const pieces = [encode('{"object":"list","data":[')]
  const widths = new Widths(request)
  for (const [index, span] of vectors.entries()) {
    widths.add(span.width, index)
    const vector = request.isBase64 ? encode(`"${base64Of(numbersAt(bytes, span) ?? [])}"`) : bytesOf(bytes, span)
    const comma = index === 0 ? '' : ','
    pieces.push(encode(`${comma}{"object":"embedding","index":${index},"embedding":`), vector, closing)
    yield pace
  }
  const usage = usageOf(request)
  const counted = JSON.stringify({ prompt_tokens: usage.promptTokens, total_tokens: usage.totalTokens })
  pieces.push(encode(`],"model":${JSON.stringify(request.model)},"usage":${counted}}`))
  return { kind: 'whole', body: join(pieces), usage, isEmpty: false }
}

const closing = encode('}')

/** For an estimate: the bytes of the inputs without their quotes and commas. */
function usageOf({ members, inputs }: EmbeddingsRequest) {
  const input = members.findLast(({ name }) => name === 'input')
  const bytes = input === undefined ? 0 : Math.max(0, input.end - input.valueStart - 3 * inputs)
  const promptTokens = Math.ceil(bytes / bytesPerToken)
  return { promptTokens, completionTokens: 0, totalTokens: promptTokens, isEstimated: true } as const
}

function textsOf(input: unknown): readonly string[] {
  return (Array.isArray(input) ? listOf(input) : [input]).map((each) => {
    if (typeof each !== 'string') throw untranslatable('Input other than text')
    return each
  })
}
