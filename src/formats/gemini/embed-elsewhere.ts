import type { JsonObject } from '../../base/json-value.ts'
import { join } from '../../bytes/splice.ts'
import type { Ask } from '../ask.ts'
import { readEmbeddings } from '../embeddings/answer.ts'
import type { EmbeddingsRequest } from '../embeddings/request.ts'
import { encodeJson, listOf, numberOf, objectOf, objectsOf, parseJsonBytes } from '../exact-json.ts'
import type { AnsweredError, PassThroughTarget } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { WholeReply } from '../reply.ts'
import { joinTexts } from '../turns.ts'
import { untranslatable } from '../untranslatable.ts'
import { readPart } from './read-contents.ts'
import { memberOf } from './spelling.ts'

/**
 * Writes a request for one or several embeddings in the widely used format.
 *
 * @throws {UpstreamFailure} `bad_request` for contents other than text, and for vectors of several lengths
 */
export function writeEmbeddings(
  ask: Ask,
  model: string,
  { overrides, drop }: Pick<PassThroughTarget, 'overrides' | 'drop'>,
): readonly Uint8Array[] {
  const requests = requestsOf(ask)
  const lengths = new Set(requests.map((each) => numberOf(memberOf(each, 'outputDimensionality'))))
  if (lengths.size > 1) throw untranslatable('A request for embeddings of several lengths')
  const [dimensions] = lengths
  const fields = {
    model,
    input: requests.map(textOfContent),
    encoding_format: 'float',
    ...(dimensions === undefined ? {} : { dimensions }),
  }
  const sent = Object.entries(fields).filter(([name]) => !drop.includes(name))
  return [encodeJson({ ...Object.fromEntries(sent), ...overrides })]
}

/** The request for embeddings in the widely used format. @throws {UpstreamFailure} as {@link writeEmbeddings} */
export function embeddingsOf(ask: Ask): EmbeddingsRequest {
  const body = join(writeEmbeddings(ask, ask.model, { overrides: {}, drop: [] }))
  return { ...ask, format: 'embeddings', stream: false, body, inputs: requestsOf(ask).length, isBase64: false }
}

/**
 * Reads an answer in the widely used format.
 *
 * @throws {MalformedAnswer} without one embedding for each content
 */
export function readEmbeddingsElsewhere(body: Uint8Array, ask: Ask): WholeReply | AnsweredError {
  const read = readEmbeddings(body, embeddingsOf(ask))
  if (read.kind === 'error') return read
  const data = objectsOf(objectOf(parseJsonBytes(read.body))['data'])
  const sorted = data.toSorted((one, other) => (numberOf(one['index']) ?? 0) - (numberOf(other['index']) ?? 0))
  const embeddings = sorted.map(({ embedding }) => {
    const values = listOf(embedding)
    if (values.length === 0 || values.some((value) => numberOf(value) === undefined))
      throw new MalformedAnswer('malformed', 'an embedding is no list of numbers')
    return { values }
  })
  return { ...read, body: encodeJson(isOne(ask) ? { embedding: embeddings[0] } : { embeddings }) }
}

function isOne({ format }: Ask): boolean {
  return format === 'gemini_embed'
}

function requestsOf(ask: Ask): readonly JsonObject[] {
  const fields = objectOf(parseJsonBytes(ask.body))
  return isOne(ask) ? [fields] : objectsOf(fields['requests'])
}

function textOfContent({ content }: JsonObject): string {
  const parts = objectsOf(objectOf(content)['parts']).flatMap(readPart)
  if (parts.some(({ kind }) => kind !== 'text')) throw untranslatable('Content other than text')
  return joinTexts(parts)
}
