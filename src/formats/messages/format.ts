import type { JsonObject } from '../../base/json-value.ts'
import { formatEvents } from '../../bytes/event-stream.ts'
import { encode } from '../../bytes/text.ts'
import type { Unsupported } from '../../service/failure.ts'
import { answerLimiter } from '../answer-limit.ts'
import { appendMessage } from '../append-message.ts'
import type { Ask } from '../ask.ts'
import { parseChecked } from '../chat/read-event.ts'
import { checkBody, checkLargeBody } from '../check-body.ts'
import { demandReader } from '../demand.ts'
import type { WireError } from '../error.ts'
import { encodeJson } from '../exact-json.ts'
import type { Envelope, Format, StreamFormat, Talk } from '../format.ts'
import { usualTokens } from '../size.ts'
import { spliceRequest } from '../splice-request.ts'
import { messageWriter, writeMessage, type WriterOptions } from './answer-writer.ts'
import { messageContinuation, messageRetracer } from './continuation.ts'
import { fitMessagesRequest } from './fit.ts'
import { gatheredMessage } from './gathered-message.ts'
import { callerHeaders } from './headers.ts'
import { messageEventReader } from './native.ts'
import { readMessagesRequest } from './read-conversation.ts'
import { messagesCheck, type MessagesRequest } from './request.ts'
import { messageToParts, readMessage } from './whole-message.ts'
import { isSealedSpan, messagesWithoutReasoning } from './without-reasoning.ts'

const required = ['messages', 'max_tokens']
/** What models read of a request. */
export const messagesPrompt = { prompt: ['system', 'messages', 'tools'], media: { texts: ['"source"'] } } as const
const demand = demandReader({ ...messagesPrompt, answerTokens: ['max_tokens'] })

/** Anthropic's Messages, as callers speak them (docs/api.md). */
export const messagesOfCallers: Format & { readonly stream: StreamFormat; readonly talk: Talk } = {
  name: 'messages',
  path: '/v1/messages',
  keyHeader: 'x-api-key',
  check: (body, envelope) => checkBody(body, checkOf(envelope)),
  checkLarge: (body, pause, envelope) => checkLargeBody(body, checkOf(envelope), pause),
  isText: true,
  demand,
  limitAnswer: answerLimiter({ names: ['max_tokens'] }),
  withoutReasoning: (request: MessagesRequest) => messagesWithoutReasoning(request, 'all'),
  needsSameModel: false,
  clientHeader: 'anthropic-version',
  errorBody: messagesError,
  errorStatus: messagesStatus,

  passThrough: {
    write(request: MessagesRequest, model, { overrides, defaults = {}, profile }) {
      const { rename, drop, unsignedThinking } = profile
      const hasForeign = request.reasoning.some(({ isForeign }) => isForeign)
      const ask = hasForeign ? messagesWithoutReasoning(request, unsignedThinking ? 'sealed' : 'foreign') : request
      return spliceRequest(ask ?? request, { model, overrides, defaults, rename, drop })
    },
    fit: fitMessagesRequest,
    losesReasoning: ({ body, reasoning }: MessagesRequest, { profile }) =>
      reasoning.some((span) => (profile.unsignedThinking ? isSealedSpan(body, span) : span.isForeign)),
    readWhole: readMessage,
    reader: messageEventReader,
  },

  talk: {
    read: ({ body }, drop) => readMessagesRequest(body, drop),
    writeWhole: (events, ask) => writeMessage(events, writerOptions(ask)),
    writer: (ask) => messageWriter(writerOptions(ask)),
  },

  stream: {
    frame: formatEvents,
    // The last part is the end.
    end: new Uint8Array(),
    keepAlive: { bytes: encode('event: ping\ndata: {"type": "ping"}\n\n'), everyMs: 15_000 },
    error: messagesErrorEvent,
    split: messageToParts,
    gatherer() {
      const message = gatheredMessage()
      return {
        add: ({ data }) => message.add(parseChecked(data)),
        finish: () => encodeJson(message.finish()),
      }
    },
    continuation: (_ask, delivered) => messageContinuation(delivered),
    retracer: messageRetracer,
    continued: (ask, text) => ({
      ...ask,
      ...appendMessage(ask, 'messages', encodeJson({ role: 'assistant', content: text }))?.changed,
    }),
  },
}

function checkOf({ headers }: Envelope) {
  return messagesCheck('messages', required, callerHeaders(headers))
}

function writerOptions(ask: Ask): WriterOptions {
  return { model: ask.model, promptTokens: () => usualTokens(demand(ask).prompt) }
}

/** https://platform.claude.com/docs/en/api/errors */
const types: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])

/** The status of an error. Messages have statuses of their own for an overload and for money that is used up. */
function messagesStatus({ status, code }: WireError): number {
  if (code === 'insufficient_quota') return 402
  return status === 503 ? 529 : status
}

/** Classes by which Claude Code repairs a request: https://code.claude.com/docs/en/llm-gateway-protocol */
const classes: Readonly<Record<Unsupported, string>> = {
  context: 'prompt_too_long',
  reasoning: 'thinking_signature',
  image: 'image_block',
  document: 'document_block',
  effort: 'effort_unsupported',
  schema: 'structured_outputs_unsupported',
}

/**
 * What every provider refused, as the class that is the whole message; the reasons are beside it. Anthropic's own
 * sentence about the length has numbers that clients read.
 */
function wordsOf({ message, param, unsupported }: WireError): JsonObject {
  if (unsupported === undefined || /prompt is too long/i.test(message)) return { message }
  return { message: `capability_rejected: ${classes[unsupported]}`, param, reason: message }
}

/** An error in the shape of Messages. */
function messagesError(error: WireError, requestId?: string): string {
  const status = messagesStatus(error)
  const type = types.get(status) ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return JSON.stringify({
    type: 'error',
    error: { type, ...wordsOf(error) },
    ...(requestId === undefined ? {} : { request_id: requestId }),
  })
}

/** An error as the last event of a stream. */
function messagesErrorEvent(error: WireError): Uint8Array {
  return encode(`event: error\ndata: ${messagesError(error)}\n\n`)
}
