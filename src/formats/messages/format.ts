import { formatEvents } from '../../bytes/event-stream.ts'
import { encode } from '../../bytes/text.ts'
import { answerLimiter } from '../answer-limit.ts'
import { appendMessage } from '../append-message.ts'
import type { Ask } from '../ask.ts'
import { parseChecked } from '../chat/read-event.ts'
import { checkBody, checkLargeBody } from '../check-body.ts'
import { demandReader } from '../demand.ts'
import { encodeJson } from '../exact-json.ts'
import type { Envelope, Format, StreamFormat, Talk } from '../format.ts'
import { usualTokens } from '../size.ts'
import { spliceRequest } from '../splice-request.ts'
import { messageWriter, writeMessage, type WriterOptions } from './answer-writer.ts'
import { messageContinuation } from './continuation.ts'
import { messagesError, messagesErrorEvent, messagesStatus } from './errors.ts'
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
    write(request: MessagesRequest, model, { overrides, profile }) {
      const { rename, drop, unsignedThinking } = profile
      const hasForeign = request.reasoning.some(({ isForeign }) => isForeign)
      const ask = hasForeign ? messagesWithoutReasoning(request, unsignedThinking ? 'sealed' : 'foreign') : request
      return spliceRequest(ask ?? request, { model, overrides, rename, drop })
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
