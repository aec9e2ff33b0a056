import type { JsonObject } from '../../base/json-value.ts'
import type { Ask } from '../ask.ts'
import { embeddingsReply } from '../embeddings/answer.ts'
import type { EmbeddingsRequest } from '../embeddings/request.ts'
import { encodeJson, isObject, listOf, objectOf, parseJsonBytes } from '../exact-json.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { WholeReply } from '../reply.ts'
import { untranslatable } from '../untranslatable.ts'
import { resourceName } from './models.ts'

/** For an estimate: Gemini does not count the tokens of embeddings. */
const bytesPerToken = 4

/**
 * Writes a request for embeddings as Gemini's batchEmbedContents.
 *
 * @throws {UpstreamFailure} `bad_request` for inputs other than text
 */
export function writeEmbeddingsRequest({ body }: Ask, model: string, overrides: JsonObject): readonly Uint8Array[] {
  const { dimensions } = objectOf(parseJsonBytes(body))
  const name = resourceName(model)
  const requests = textsOf(body).map((text) => ({
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
  const { body: asked, inputs } = request
  const answer = parsed(body)
  const vectors = listOf(answer['embeddings']).map((each) => listOf(objectOf(each)['values']))
  if (vectors.length !== inputs || !vectors.every(isVector))
    throw new MalformedAnswer('malformed', `the answer has ${vectors.length} embeddings for ${inputs} inputs`)
  const promptTokens = textsOf(asked).reduce((sum, text) => sum + Math.ceil(text.length / bytesPerToken), 0)
  const usage = { promptTokens, completionTokens: 0, totalTokens: promptTokens, isEstimated: true } as const
  return embeddingsReply(vectors, request, usage)
}

function textsOf(body: Uint8Array): readonly string[] {
  const { input } = objectOf(parseJsonBytes(body))
  return (Array.isArray(input) ? listOf(input) : [input]).map((each) => {
    if (typeof each !== 'string') throw untranslatable('Input other than text')
    return each
  })
}

function parsed(body: Uint8Array): JsonObject {
  try {
    const answer = parseJsonBytes(body)
    if (isObject(answer)) return answer
  } catch (cause) {
    throw new MalformedAnswer('malformed', 'the answer is not JSON', { cause })
  }
  throw new MalformedAnswer('malformed', 'the answer is not an object')
}

function isVector(values: readonly unknown[]): values is readonly number[] {
  return values.length > 0 && values.every((each) => typeof each === 'number')
}
