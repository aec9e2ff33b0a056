import { utf8 } from '../../bytes/text.ts'
import { answerLimiter } from '../answer-limit.ts'
import { checkBody, checkLargeBody } from '../check-body.ts'
import { demandReader } from '../demand.ts'
import { WireError } from '../error.ts'
import { listOf, objectOf, parseJson } from '../exact-json.ts'
import type { Format, StreamFormat, Talk, Refusal } from '../format.ts'
import { usualTokens } from '../size.ts'
import { spliceRequest } from '../splice-request.ts'
import { countedUsage } from '../usage.ts'
import { echoOf } from './echo.ts'
import { fitResponsesRequest } from './fit.ts'
import { partReader, readWhole } from './native.ts'
import { readResponsesRequest } from './read-conversation.ts'
import { requestReader, responsesWithoutReasoning, type ResponsesRequest } from './request.ts'
import { responseWriter, type ResponseWriter } from './response-writer.ts'
import { streamFormat } from './stream-format.ts'
import { declaredTools, toolNames } from './tool-names.ts'

/**
 * Refusals of what `/v1/responses` has elsewhere: connections by WebSocket, and stored answers. Clients ask by POST at
 * once after a 426, and repeat after other errors.
 */
const storedResponses: readonly Refusal[] = [
  {
    path: '/v1/responses',
    methods: ['GET'],
    error: (headers) =>
      headers.get('upgrade')?.toLowerCase() === 'websocket'
        ? new WireError(
            426,
            'invalid_request_error',
            'websocket_not_supported',
            'WebSocket is not supported: send requests as POST to /v1/responses',
          )
        : undefined,
  },
  {
    path: '/v1/responses/',
    methods: ['GET', 'DELETE', 'POST'],
    error: () =>
      new WireError(
        404,
        'invalid_request_error',
        'not_found',
        'This service stores no responses: send all items of the conversation as input with each request',
      ),
  },
]

const read = requestReader('responses')
/** What models read of a request. */
export const responsesPrompt = {
  prompt: ['instructions', 'input', 'tools', 'prompt'],
  media: { texts: ['"image_url"', '"file_url"'] },
} as const
const demand = demandReader({ ...responsesPrompt, answerTokens: ['max_output_tokens'] })

/** OpenAI's Responses, without stored state (docs/api.md). */
export const responses: Format & { readonly stream: StreamFormat; readonly talk: Talk } = {
  name: 'responses',
  path: '/v1/responses',
  refusals: storedResponses,
  check: (body) => checkBody(body, read),
  checkLarge: (body, pause) => checkLargeBody(body, read, pause),
  isText: true,
  demand,
  limitAnswer: answerLimiter({ names: ['max_output_tokens'] }),
  withoutReasoning: (request: ResponsesRequest) => responsesWithoutReasoning(request, 'all'),
  needsSameModel: false,
  errorBody(error) {
    const { error: members } = error.toJSON()
    // An error about the length of the whole request names the field that has it in another format.
    return JSON.stringify({ error: members.param === 'messages' ? { ...members, param: 'input' } : members })
  },

  passThrough: {
    fit: (request: ResponsesRequest, profile, changes) => fitResponsesRequest(request, profile, changes),
    write(request: ResponsesRequest, model, { overrides, defaults = {}, profile: { rename, drop } }) {
      const ask = responsesWithoutReasoning(request, 'foreign') ?? request
      return spliceRequest(ask, { model, overrides, defaults, rename, drop })
    },
    readWhole,
    reader: partReader,
  },

  talk: {
    read: readResponsesRequest,
    writeWhole(events, request: ResponsesRequest) {
      const writer = writerFor(request)
      writer.write(events)
      const usage = events.findLast((event) => event.kind === 'usage')
      return {
        kind: 'whole',
        body: new TextEncoder().encode(writer.whole()),
        usage: usage && countedUsage(usage.counts),
        isEmpty: writer.isEmpty(),
        isBlank: writer.isBlank(),
      }
    },
    writer: writerFor,
  },

  stream: streamFormat,
}

function writerFor(request: ResponsesRequest): ResponseWriter {
  return responseWriter({
    model: request.model,
    echo: echoOf(request),
    names: toolNames(request.renamesTools ? declaredTools(request) : []),
    promptTokens: () => usualTokens(demand(request).prompt),
    isSealed: includes(request).includes('reasoning.encrypted_content'),
  })
}

function includes({ body, members }: ResponsesRequest): readonly unknown[] {
  const include = members.findLast(({ name }) => name === 'include')
  return include === undefined
    ? []
    : listOf(objectOf(parseJson(`{"include":${utf8(body, include.valueStart, include.end)}}`))['include'])
}
