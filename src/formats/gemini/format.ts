import { formatEvents } from '../../bytes/event-stream.ts'
import { answerLimiter } from '../answer-limit.ts'
import { appendMessage } from '../append-message.ts'
import type { Ask } from '../ask.ts'
import { parseChecked } from '../chat/read-event.ts'
import { checkBody, checkLargeBody } from '../check-body.ts'
import { demandReader } from '../demand.ts'
import { WireError } from '../error.ts'
import { encodeJson, numberOf, objectOf, parseJsonBytes } from '../exact-json.ts'
import type { Envelope, Format, StreamFormat, Talk } from '../format.ts'
import { usualTokens } from '../size.ts'
import { responseStreamWriter, writeGeminiResponse, type ResponseOptions } from './answer-writer.ts'
import { geminiContinuation } from './continuation.ts'
import { googleError, googleErrorEvent, googleStatus } from './errors.ts'
import { geminiModels } from './model-writer.ts'
import { responseReader } from './native.ts'
import { readGeminiRequest } from './read-conversation.ts'
import { contentShapes } from './request-shapes.ts'
import { geminiCheck, type GeminiRequest } from './request.ts'
import { memberOf, snakeCase } from './spelling.ts'
import { gatheredResponse, readResponse, responseToParts } from './whole-response.ts'
import { geminiWithoutReasoning } from './without-reasoning.ts'
import { writeNative } from './write-native.ts'

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
