import { doneEvent } from '../../bytes/event-stream.ts'
import { otherLimits } from '../answer-limit.ts'
import type { RelayName } from '../ask.ts'
import { commentKeepAlive } from '../keep-alive.ts'
import { anyValue, flag, integerFrom, list, object, oneOf, text, textOr } from '../request-shape.ts'
import type { AnswerShape } from './answer.ts'
import type { RelayEndpoint, RelayStream } from './endpoint.ts'
import { completionReader, typedReader } from './events.ts'
import { plainText, sound } from './media.ts'

const mib = 1024 * 1024

const pictures: AnswerShape = { member: 'data', entries: { url: 'string', b64_json: 'string' } }

/** A generated picture has some megabytes, ten of them can be asked for, and each attempt is billed. */
const drawing = {
  // The largest pictures have some 6,300 tokens.
  demand: { prompt: ['prompt'], answerTokens: 8_192, answers: ['n'] },
  answerBytesMax: 64 * mib,
  needsSameModel: false,
  stopsInDoubt: true,
  startsLate: true,
} as const

const transcript = {
  answer: { member: 'text' },
  media: { answer: plainText, asked: { member: 'response_format', values: ['text', 'srt', 'vtt'] } },
  needsSameModel: false,
  startsLate: true,
} as const

/** Streams of events whose types begin with this, and of which the last one ends with that. */
function typedStream(beginning: string, last: string, eventBytesMax: number): RelayStream {
  return { member: 'stream', value: true, reader: (ask) => typedReader(ask, { beginning, last, eventBytesMax }) }
}

/** The endpoints that are relayed, by their formats. A path that is in no table is not served. */
export const relayEndpoints: Readonly<Record<RelayName, RelayEndpoint>> = {
  completions: {
    path: '/v1/completions',
    request: {
      kind: 'json',
      // Token ids, and lists of them, are prompts too.
      fields: { prompt: textOr(list(anyValue, 1)), stream: flag, n: integerFrom(1), max_tokens: integerFrom(0) },
      required: ['prompt'],
    },
    demand: {
      prompt: ['prompt'],
      answerTokens: ['max_tokens'],
      otherLimits,
      answers: ['n', 'best_of'],
      prompts: 'prompt',
    },
    isText: true,
    answer: { member: 'choices', entries: { text: 'string' } },
    stream: {
      member: 'stream',
      value: true,
      reader: completionReader,
      end: doneEvent,
      keepAlive: commentKeepAlive,
      isWholeAnEvent: true,
    },
    needsSameModel: false,
  },
  moderations: {
    path: '/v1/moderations',
    request: { kind: 'json', fields: { input: textOr(list(anyValue, 1)) }, required: ['input'] },
    defaultModel: 'omni-moderation-latest',
    // An answer without a verdict must never read as a good one.
    answer: { member: 'results', entries: { flagged: 'boolean' } },
    demand: { prompt: ['input'], answerTokens: 'none' },
    needsSameModel: true,
  },
  rerank: {
    path: '/v1/rerank',
    request: {
      kind: 'json',
      fields: { query: textOr(object({})), documents: list(anyValue, 1), top_n: integerFrom(1) },
      required: ['query', 'documents'],
    },
    answer: { member: 'results', entries: { relevance_score: 'number' } },
    demand: { prompt: ['query', 'documents'], answerTokens: 'none' },
    // Scores of different models cannot be compared.
    needsSameModel: true,
  },
  image_generations: {
    path: '/v1/images/generations',
    request: { kind: 'json', fields: { prompt: text, stream: flag, n: integerFrom(1) }, required: ['prompt'] },
    defaultModel: 'dall-e-2',
    answer: pictures,
    stream: typedStream('image_generation.', 'completed', 32 * mib),
    ...drawing,
  },
  image_edits: {
    path: '/v1/images/edits',
    request: { kind: 'form', required: [['image', 'image[]'], ['prompt']] },
    defaultModel: 'gpt-image-1.5',
    answer: pictures,
    stream: typedStream('image_edit.', 'completed', 32 * mib),
    ...drawing,
  },
  image_variations: {
    path: '/v1/images/variations',
    request: { kind: 'form', required: [['image']] },
    defaultModel: 'dall-e-2',
    answer: pictures,
    ...drawing,
  },
  speech: {
    path: '/v1/audio/speech',
    request: {
      kind: 'json',
      fields: { input: text, stream_format: oneOf('sse', 'audio') },
      required: ['input'],
    },
    media: { answer: sound },
    stream: { ...typedStream('speech.audio.', 'done', mib), member: 'stream_format', value: 'sse' },
    requestBytesMax: 8 * mib,
    answerBytesMax: 64 * mib,
    needsSameModel: false,
    stopsInDoubt: true,
    startsLate: true,
  },
  transcriptions: {
    path: '/v1/audio/transcriptions',
    request: { kind: 'form', required: [['file']] },
    stream: typedStream('transcript.text.', 'done', 4 * mib),
    ...transcript,
  },
  translations: {
    path: '/v1/audio/translations',
    request: { kind: 'form', required: [['file']] },
    ...transcript,
  },
}
