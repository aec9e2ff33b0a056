import type { JsonObject } from '../../base/json-value.ts'
import { JsonCursor, nameTable } from '../../bytes/json-cursor.ts'
import { runInSlices, runThrough, skip, sliceBytes, type Pace, type Walk } from '../../bytes/pace.ts'
import { join } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import { hasMoreValues } from '../../bytes/value-count.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import type { Ask } from '../ask.ts'
import { readEmbeddings, readLargeEmbeddings } from '../embeddings/answer.ts'
import type { EmbeddingsRequest } from '../embeddings/request.ts'
import { bytesOf, findVectors, type VectorSpan } from '../embeddings/vectors.ts'
import { encodeJson, numberOf, objectOf, objectsOf, oneOrMore, parseJsonBytes } from '../exact-json.ts'
import type { AnsweredError, PassThroughTarget } from '../format.ts'
import type { WholeReply } from '../reply.ts'
import { joinTexts } from '../turns.ts'
import { untranslatable } from '../untranslatable.ts'
import { readPart } from './read-contents.ts'
import { memberOf } from './spelling.ts'

/** A request with more values would delay other requests. */
const valuesMax = 100_000

/**
 * Writes a request for one or several embeddings in the widely used format.
 *
 * @throws {UpstreamFailure} `bad_request` for contents other than text, and for vectors of several lengths
 */
export function writeEmbeddings(
  ask: Ask,
  model: string,
  {
    overrides,
    defaults,
    profile,
  }: Pick<PassThroughTarget, 'overrides' | 'defaults'> & { readonly profile: Pick<TargetProfile, 'drop'> },
): readonly Uint8Array[] {
  if (hasMoreValues(ask.body, valuesMax)) throw untranslatable('A request of more than 100,000 values')
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
  const sent = Object.entries(fields).filter(([name]) => !profile.drop.includes(name))
  return [encodeJson({ ...defaults, ...Object.fromEntries(sent), ...overrides })]
}

/** The request for embeddings in the widely used format. @throws {UpstreamFailure} as {@link writeEmbeddings} */
export function embeddingsOf(ask: Ask): EmbeddingsRequest {
  const body = join(writeEmbeddings(ask, ask.model, { overrides: {}, profile: { drop: [] } }))
  return { ...countedOf(ask), body }
}

/**
 * Reads an answer in the widely used format.
 *
 * @throws {MalformedAnswer} without one embedding for each content
 */
export function readEmbeddingsElsewhere(body: Uint8Array, ask: Ask): WholeReply | AnsweredError {
  const read = readEmbeddings(body, countedOf(ask))
  return read.kind === 'error' ? read : runThrough(rewritten(read, ask, { limit: Infinity }))
}

/** As {@link readEmbeddingsElsewhere}, awaiting `pause` between pieces of work of some milliseconds. */
export async function readLargeEmbeddingsElsewhere(
  body: Uint8Array,
  ask: Ask,
  pause: () => Promise<void>,
): Promise<WholeReply | AnsweredError> {
  const read = await readLargeEmbeddings(body, countedOf(ask), pause)
  return read.kind === 'error' ? read : runInSlices(rewritten(read, ask, { limit: sliceBytes }), pause)
}

const topNames = nameTable(['data'])
const vectorNames = nameTable(['embedding', 'index'])

/** Writes a checked answer in Google's shape. */
function* rewritten(read: WholeReply, ask: Ask, pace: Pace): Walk<WholeReply> {
  const cursor = new JsonCursor(read.body)
  cursor.peek()
  let vectors: readonly VectorSpan[] = []
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(topNames) === 0) vectors = yield* findVectors(cursor, vectorNames, pace)
    else yield* skip(cursor, pace)
  }
  const sorted = vectors.toSorted((one, other) => (one.index ?? 0) - (other.index ?? 0))
  const values = sorted.map((span) => [encode('{"values":'), bytesOf(read.body, span), encode('}')])
  const [one = []] = values
  const all = values.flatMap((pieces, index) => (index === 0 ? pieces : [encode(','), ...pieces]))
  const body = isOne(ask)
    ? [encode('{"embedding":'), ...one, encode('}')]
    : [encode('{"embeddings":['), ...all, encode(']}')]
  return { ...read, body: join(body) }
}

/** What the check of an answer needs of its request. */
function countedOf(ask: Ask): EmbeddingsRequest {
  const requests = requestsOf(ask)
  const dimensions = numberOf(memberOf(requests[0] ?? {}, 'outputDimensionality'))
  const counted = { inputs: requests.length, isBase64: false, dimensions, isUsual: true }
  return { ...ask, ...counted, format: 'embeddings', stream: false }
}

function isOne({ format }: Ask): boolean {
  return format === 'gemini_embed'
}

function requestsOf(ask: Ask): readonly JsonObject[] {
  const fields = objectOf(parseJsonBytes(ask.body))
  return isOne(ask) ? [fields] : objectsOf(fields['requests'])
}

function textOfContent({ content }: JsonObject): string {
  const parts = oneOrMore(objectOf(content)['parts']).flatMap(readPart)
  if (parts.some(({ kind }) => kind !== 'text')) throw untranslatable('Content other than text')
  return joinTexts(parts)
}
