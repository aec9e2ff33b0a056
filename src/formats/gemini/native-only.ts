import type { JsonObject } from '../../base/json-value.ts'
import { JsonCursor, nameTable } from '../../bytes/json-cursor.ts'
import { runInSlices, skip, sliceBytes, type Pace, type Walk } from '../../bytes/pace.ts'
import type { FormatName } from '../ask.ts'
import { checkBody, checkLargeBody } from '../check-body.ts'
import { demandReader, freeDemandReader } from '../demand.ts'
import { embeddings } from '../embeddings/format.ts'
import { findVectors, malformedFor } from '../embeddings/vectors.ts'
import { isObject, listOf, numberOf, objectOf, objectsOf } from '../exact-json.ts'
import type { Format } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { WholeReply } from '../reply.ts'
import type { Shape } from '../request-shape.ts'
import { errorOf } from '../upstream-error.ts'
import { geminiOfCallers, geminiPrompt } from './format.ts'
import { batchEmbedShapes, countShapes, embedShapes } from './request-shapes.ts'
import { geminiCheck } from './request.ts'
import { parsedJson } from './whole-response.ts'

/** Of embeddings: as in the widely used format. */
const { answerBytesMax = 0 } = embeddings

/** Counts the tokens of a request. Only Google counts them; else svc estimates. */
export const countGeminiTokens: Format = {
  ...actionOf({
    name: 'gemini_count_tokens',
    shapes: countShapes,
    required: [],
    isAnswer: ({ totalTokens = 0 }) => numberOf(totalTokens) !== undefined,
  }),
  path: '/v1beta/models/{model}:countTokens',
  demand: freeDemandReader(geminiPrompt),
  otherPaths: ['/v1/models/{model}:countTokens'],
  estimate: (tokens) => ({ totalTokens: tokens }),
}

/** Makes the embedding of one content. */
export const embedContent: Format = {
  ...actionOf({
    name: 'gemini_embed',
    shapes: embedShapes,
    required: ['content'],
    isAnswer: ({ embedding }) => isVector(embedding),
  }),
  path: '/v1beta/models/{model}:embedContent',
  otherPaths: ['/v1/models/{model}:embedContent'],
  answerBytesMax,
  unserved: 'makes embeddings',
}

/** Makes the embeddings of several contents. */
export const batchEmbedContents: Format = {
  ...actionOf({
    name: 'gemini_batch_embed',
    shapes: batchEmbedShapes,
    required: ['requests'],
    isAnswer: ({ embeddings }) => listOf(embeddings).length > 0 && listOf(embeddings).every(isVector),
  }),
  path: '/v1beta/models/{model}:batchEmbedContents',
  otherPaths: ['/v1/models/{model}:batchEmbedContents'],
  answerBytesMax,
  unserved: 'makes embeddings',
}

function isVector(embedding: unknown): boolean {
  const values = listOf(objectOf(embedding)['values'])
  return values.length > 0 && values.every((value) => numberOf(value) !== undefined)
}

interface ActionOptions {
  readonly name: FormatName
  readonly shapes: Readonly<Record<string, Shape>>
  readonly required: readonly string[]
  /** Whether an object is an answer. */
  readonly isAnswer: (answer: JsonObject) => boolean
}

/** A format of requests beside generateContent, whose answers depend on the model. */
function actionOf({ name, shapes, required, isAnswer }: ActionOptions): Omit<Format, 'path'> {
  const check = geminiCheck(name, shapes, required)
  const { errorBody, errorStatus, keyHeader = '', passThrough } = geminiOfCallers
  return {
    name,
    keyHeader,
    check: (body, envelope) => checkBody(body, check(envelope)),
    checkLarge: (body, pause, envelope) => checkLargeBody(body, check(envelope), pause),
    needsSameModel: true,
    isOptional: true,
    isText: false,
    demand: demandReader({ prompt: ['content', 'requests'], answerTokens: 'none' }),
    isPromptOnly: true,
    errorBody,
    ...(errorStatus === undefined ? {} : { errorStatus }),
    passThrough: {
      write: passThrough.write,
      readWhole(body) {
        const answer = parsedJson(body)
        // Google has lists around some errors.
        const [failed] = objectsOf(Array.isArray(answer) ? answer : [answer])
        if (isObject(failed?.['error'])) return { kind: 'error', error: errorOf(failed) }
        if (!isObject(answer) || !isAnswer(answer))
          throw new MalformedAnswer('malformed', 'the answer is not of its format')
        return { kind: 'whole', body, usage: undefined, isEmpty: false }
      },
      readLarge: (body, _ask, pause) =>
        runInSlices(readEmbedded(new JsonCursor(body), { limit: sliceBytes }), pause).catch(throwMalformed),
    },
  }
}

const embeddedNames = nameTable(['embedding', 'embeddings'])
const vectorNames = nameTable(['values'])

/** Inspects a large answer, which only embeddings are: an object with one, or with a list of them. */
function* readEmbedded(cursor: JsonCursor, pace: Pace): Walk<WholeReply> {
  let hasEmbeddings = false
  if (cursor.peek() === 'object') {
    for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
      const code = cursor.nameCode(embeddedNames)
      const kind = cursor.peek()
      const start = cursor.position
      if (code === 1) hasEmbeddings = (yield* findVectors(cursor, vectorNames, pace)).length > 0
      else yield* skip(cursor, pace)
      if (code === 0) hasEmbeddings = kind === 'object' && cursor.position - start > 2
    }
    cursor.finish()
  }
  if (!hasEmbeddings) throw new MalformedAnswer('malformed', 'the answer is not of its format')
  return { kind: 'whole', body: cursor.bytes, usage: undefined, isEmpty: false }
}

function throwMalformed(error: unknown): never {
  throw malformedFor(error)
}
