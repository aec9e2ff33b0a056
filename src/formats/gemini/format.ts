import type { JsonObject } from '../../base/json-value.ts'
import { formatEvents } from '../../bytes/event-stream.ts'
import { hasMoreValues } from '../../bytes/value-count.ts'
import { answerLimiter } from '../answer-limit.ts'
import { appendMessage } from '../append-message.ts'
import type { Ask } from '../ask.ts'
import { parseChecked } from '../chat/read-event.ts'
import { checkBody, checkLargeBody } from '../check-body.ts'
import { demandReader } from '../demand.ts'
import { WireError } from '../error.ts'
import { encodeJson, numberOf, objectOf, parseJsonBytes, objectsOf, textOf, oneOrMore } from '../exact-json.ts'
import type { Envelope, Format, StreamFormat, Talk, Continuation, ModelWriter, Retracer } from '../format.ts'
import type { ListedModel } from '../model.ts'
import type { Delivered } from '../reply.ts'
import { usualTokens } from '../size.ts'
import { geminiAnswerReader } from './answer-reader.ts'
import { responseStreamWriter, writeGeminiResponse, type ResponseOptions } from './answer-writer.ts'
import { googleError, googleErrorEvent, googleStatus } from './errors.ts'
import { resourceName, geminiModel } from './models.ts'
import { responseReader } from './native.ts'
import { readGeminiRequest } from './read-conversation.ts'
import { contentShapes } from './request-shapes.ts'
import { geminiCheck, type GeminiRequest } from './request.ts'
import { memberOf, snakeCase } from './spelling.ts'
import { gatheredResponse, readResponse, responseToParts } from './whole-response.ts'
import { foreignSignature } from './write-contents.ts'
import { writeNative } from './write-native.ts'

const pageSizeDefault = 50
const pageSizeMax = 1_000

/** Models as Google lists them (https://ai.google.dev/api/models). `pageToken` counts the models before a page. */
const geminiModels: ModelWriter = {
  path: '/v1beta/models',
  modelPath: '/v1beta/models/',
  list(models, query) {
    const start = numberIn(query.get('pageToken')) ?? 0
    const size = Math.min(numberIn(query.get('pageSize')) || pageSizeDefault, pageSizeMax)
    const next = start + size
    return {
      models: models.slice(start, next).map(writeModel),
      ...(next < models.length ? { nextPageToken: String(next) } : {}),
    }
  },
  one: writeModel,
}

function writeModel({ name, offers }: ListedModel): JsonObject {
  const [{ model }] = offers
  return {
    name: resourceName(name),
    displayName: name,
    supportedGenerationMethods: ['generateContent', 'embedContent'],
    ...(model.context === undefined ? {} : { inputTokenLimit: model.context }),
    ...(model.maxOutput === undefined ? {} : { outputTokenLimit: model.maxOutput }),
  }
}

/** An integer of 0 or more; undefined for anything else, which counts as absent. */
function numberIn(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

const check = geminiCheck('gemini', contentShapes, ['contents'])
/** What models read of a request. */
export const geminiPrompt = {
  prompt: ['systemInstruction', 'system_instruction', 'contents', 'tools'],
  media: { texts: ['"fileUri"', '"file_uri"'] },
} as const
const demand = demandReader({
  ...geminiPrompt,
  answerTokens: ['maxOutputTokens', 'max_output_tokens'],
  answers: ['candidateCount', 'candidate_count'],
  within: ['generationConfig', 'generation_config'],
})

/** Google's generateContent and streamGenerateContent, as callers speak them (docs/api.md). */
export const geminiOfCallers: Format & { readonly stream: StreamFormat; readonly talk: Talk } = {
  name: 'gemini',
  path: '/v1beta/models/{model}:generateContent',
  otherPaths: [
    '/v1beta/models/{model}:streamGenerateContent',
    '/v1/models/{model}:generateContent',
    '/v1/models/{model}:streamGenerateContent',
  ],
  keyHeader: 'x-goog-api-key',
  clientHeader: 'x-goog-api-key',
  modelWriter: geminiModels,
  refusals: [{ path: '/v1beta/models/', methods: ['POST'], error: unknownAction }],
  check: (body, envelope) => checkBody(body, check(envelope)),
  checkLarge: (body, pause, envelope) => checkLargeBody(body, check(envelope), pause),
  isText: true,
  demand,
  limitAnswer: answerLimiter({
    names: ['maxOutputTokens', 'max_output_tokens'],
    within: ['generationConfig', 'generation_config'],
  }),
  withoutReasoning(request: GeminiRequest) {
    const body = geminiWithoutReasoning(request)
    return body && checkBody(body, check(envelopeOf(request)))
  },
  needsSameModel: false,
  errorBody: googleError,
  errorStatus: googleStatus,

  passThrough: {
    write: (request: GeminiRequest, model, target) => writeNative(request, model, target),
    readWhole: readResponse,
    reader: (ask) => responseReader(configOf(ask).choices),
  },

  talk: {
    read: readGeminiRequest,
    writeWhole: (events, ask) => writeGeminiResponse(events, writerOptions(ask)),
    writer: (ask) => responseStreamWriter(writerOptions(ask)),
  },

  stream: {
    frame: formatEvents,
    // A stream has no end marker, and clients know no comments.
    end: new Uint8Array(),
    error: googleErrorEvent,
    split: responseToParts,
    gatherer() {
      const response = gatheredResponse()
      return {
        add: ({ data }) => response.add(parseChecked(data)),
        finish: () => encodeJson(response.finish()),
      }
    },
    continuation: (_ask, delivered) => geminiContinuation(delivered),
    retracer: geminiRetracer,
    continued: (ask, text) => ({
      ...ask,
      ...appendMessage(ask, 'contents', encodeJson({ role: 'model', parts: [{ text }] }))?.changed,
    }),
  },
}

/** The envelope of a request that was checked. */
function envelopeOf({ model, stream }: Ask): Envelope {
  const action = stream ? 'streamGenerateContent' : 'generateContent'
  return {
    path: `/v1beta/models/${encodeURIComponent(model)}:${action}`,
    headers: new Headers(),
    parameter: () => 'sse',
  }
}

function unknownAction(): WireError {
  return new WireError(
    404,
    'invalid_request_error',
    'not_found',
    'Models have the actions generateContent, streamGenerateContent, countTokens, embedContent and batchEmbedContents',
  )
}

function writerOptions(ask: Ask): ResponseOptions {
  return { model: ask.model, promptTokens: () => usualTokens(demand(ask).prompt), ...configOf(ask) }
}

/** The fields of `generationConfig` that change how an answer is written. */
function configOf({ body, members }: Ask): Pick<ResponseOptions, 'includesThoughts' | 'choices'> {
  const member = members.findLast(({ name }) => name === configName || name === snakeCase(configName))
  const config = member === undefined ? {} : objectOf(parseJsonBytes(body.subarray(member.valueStart, member.end)))
  const thinking = objectOf(memberOf(config, 'thinkingConfig'))
  return {
    includesThoughts: memberOf(thinking, 'includeThoughts') === true,
    choices: numberOf(memberOf(config, 'candidateCount')) ?? 1,
  }
}

const configName = 'generationConfig'

/** Starts the rest of a stream. Each response has the id and the model of the first one. */
function geminiContinuation({ first }: Delivered): Continuation {
  const { responseId, modelVersion } = first === undefined ? {} : parseChecked(first.data)
  const head = {
    ...(responseId === undefined ? {} : { responseId }),
    ...(modelVersion === undefined ? {} : { modelVersion }),
  }
  return {
    write(part, text = part.text) {
      if (part.data.length === 0) return [part]
      const response = parseChecked(part.data)
      const written = text === part.text ? response : withText(response, text)
      return [{ ...part, text, data: encodeJson({ ...written, ...head }), framed: undefined }]
    },
  }
}

/** Starts reading parts as events. Calls come with the finish, or else too late to be compared. */
function geminiRetracer(): Retracer {
  const reader = geminiAnswerReader()
  return {
    read({ data, finishReason }) {
      if (data.length === 0) return []
      const response = parseChecked(data)
      const [candidate, ...others] = objectsOf(response['candidates'])
      const parts = objectsOf(objectOf(candidate?.['content'])['parts'])
      const isText = parts.every((part) => textOf(part['text']) !== undefined)
      if (others.length > 0 || (!isText && finishReason === undefined)) return undefined
      const events = reader.read(response)
      return events === 'done' || 'kind' in events ? [] : events
    },
  }
}

/** A response whose first candidate has this text. */
function withText(response: JsonObject, text: string): JsonObject {
  const [first = {}, ...others] = objectsOf(response['candidates'])
  const content = objectOf(first['content'])
  const beside = objectsOf(content['parts']).filter((part) => textOf(part['text']) === undefined)
  const parts = text === '' && beside.length > 0 ? beside : [{ text }, ...beside]
  return { ...response, candidates: [{ ...first, content: { ...content, parts } }, ...others] }
}

/** Parsing blocks the event loop: this many values for some 0.1 s. */
const valuesMax = 100_000

/**
 * The body of a request without thoughts and signatures of earlier answers, for a provider that refuses them. The first
 * of parallel calls gets Google's placeholder, unless the model is known to need none.
 *
 * @returns undefined if there is nothing to change, and for a body of more than 100,000 values
 */
function geminiWithoutReasoning({ body, model }: GeminiRequest): Uint8Array | undefined {
  if (hasMoreValues(body, valuesMax)) return undefined
  const { signsCalls } = geminiModel(model)
  const placeholder = signsCalls || !model.toLowerCase().includes('gemini') ? foreignSignature : undefined
  const request = objectOf(parseJsonBytes(body))
  const contents = oneOrMore(request['contents']).map((content) => {
    const kept = oneOrMore(content['parts']).filter(({ thought }) => thought !== true)
    const firstCall = kept.find(isCall)
    const parts = kept.map((part) => signed(part, part === firstCall ? placeholder : undefined))
    return content['role'] === 'model' ? { ...content, parts: parts.length === 0 ? filler : parts } : content
  })
  const written = encodeJson({ ...request, contents })
  return Buffer.from(written).equals(encodeJson(request)) ? undefined : written
}

function isCall(part: JsonObject): boolean {
  return memberOf(part, 'functionCall') !== undefined
}

function signed(part: JsonObject, signature: string | undefined): JsonObject {
  const { thoughtSignature: _own, thought_signature: _other, ...others } = part
  return signature === undefined ? others : { ...others, thoughtSignature: signature }
}

/** Google refuses a content without parts. */
const filler = [{ text: '(no content)' }]
