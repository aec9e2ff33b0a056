import type { FormatName } from '../formats/ask.ts'
import { chat } from '../formats/chat/format.ts'
import type { ChatRequest } from '../formats/chat/request.ts'
import { chatCompletions, chatUpstream } from '../formats/chat/upstream.ts'
import { embeddings } from '../formats/embeddings/format.ts'
import {
  readEmbeddingsElsewhere,
  readLargeEmbeddingsElsewhere,
  writeEmbeddings,
} from '../formats/gemini/embed-elsewhere.ts'
import { relays } from '../formats/relay/relay.ts'
import { responses } from '../formats/responses/format.ts'
import { compact, inputTokens } from '../formats/responses/native-only.ts'
import type { ResponsesRequest } from '../formats/responses/request.ts'
import { responsesUpstream } from '../formats/responses/upstream.ts'
import { readUpstreamError } from '../formats/upstream-error.ts'
import { classifyFailure } from '../upstream/classify.ts'
import { modelPage } from '../upstream/model-page.ts'
import { asResponses, unless } from './as-responses.ts'
import { largeDecoder, throwIfError, native, withUpstreamFailures } from './native.ts'
import type { Dialect, Endpoint, Protocol } from './protocol.ts'
import { translated, translation } from './translation.ts'

/** Gemini's requests for embeddings, in the widely used format. */
const embeddingsElsewhere: Dialect = {
  answerBytesMax: embeddings.answerBytesMax,
  path: embeddingsPath,
  encode: writeEmbeddings,
  decode: withUpstreamFailures((body, ask) => throwIfError(readEmbeddingsElsewhere(body, ask))),
  decodeLarge: largeDecoder(readLargeEmbeddingsElsewhere),
}

const chatElsewhere = translated(chatCompletions, chatPath)

/** Custom tools are functions for targets that have only these; their calls are given back. */
const nativeChat = unless(native(chat, chatPath), translation(chat.talk, chatUpstream('chat'), chatPath), {
  isOther: ({ hasCustomTools }: ChatRequest, { customTools }) => hasCustomTools && customTools === 'function',
})

/** Targets that take functions alone in Responses speak chat completions, too. */
const nativeResponses = unless(native(responses, responsesPath), chatElsewhere.responses, {
  isOther: ({ renamesTools, untranslated = [] }: ResponsesRequest, { responsesTools }) =>
    responsesTools === 'functions' && (renamesTools || untranslated.includes('tools.web_search')),
})

/** Upstreams that speak the widely used chat-completions format itself. */
export const openai: Protocol = {
  dialects: {
    ...chatElsewhere,
    chat: nativeChat,
    embeddings: native(embeddings, embeddingsPath),
    gemini_embed: embeddingsElsewhere,
    gemini_batch_embed: embeddingsElsewhere,
    ...relayed(),
  },

  further: {
    responses: {
      ...asResponses({ ...chatElsewhere, chat: nativeChat }, translated(responsesUpstream, responsesPath)),
      responses: nativeResponses,
      input_tokens: native(inputTokens, (endpoint) => `${responsesPath(endpoint)}/input_tokens`),
      compact: native(compact, (endpoint) => `${responsesPath(endpoint)}/compact`),
    },
  },

  sign({ apiKey, headers }) {
    const own = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const added = { ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }), ...headers }
    const usual = { ...own, ...added }
    return ({ headers: asked }) => (asked === undefined ? usual : { ...own, ...asked, ...added })
  },

  failure: (status, headers, body, brand) => classifyFailure(status, headers, readUpstreamError(body), brand),

  models: {
    page: (endpoint) => `${basePath(endpoint)}/models`,
    read: (body) => modelPage(body),
  },
}

/** The relayed endpoints, each at its own path. */
function relayed(): Protocol['dialects'] {
  const dialects: { [Name in FormatName]?: Dialect } = {}
  for (const format of Object.values(relays))
    dialects[format.name] = native(format, (endpoint) => `${basePath(endpoint)}${format.path.replace(/^\/v1/, '')}`)
  return dialects
}

function chatPath(endpoint: Endpoint): string {
  return `${basePath(endpoint)}/chat/completions`
}

function embeddingsPath(endpoint: Endpoint): string {
  return `${basePath(endpoint)}/embeddings`
}

function responsesPath(endpoint: Endpoint): string {
  return `${basePath(endpoint)}/responses`
}

function basePath({ baseUrl }: Endpoint): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, '')
}
