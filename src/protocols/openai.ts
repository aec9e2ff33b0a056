import { chat } from '../formats/chat/format.ts'
import { embeddings } from '../formats/embeddings/format.ts'
import { readErrorBody } from '../formats/error-body.ts'
import { classifyFailure } from '../upstream/classify.ts'
import { modelPage } from '../upstream/model-page.ts'
import { native } from './native.ts'
import type { Endpoint, Protocol } from './protocol.ts'

/** Upstreams that speak the widely used chat-completions format itself. */
export const openai: Protocol = {
  dialects: {
    chat: native(chat, (endpoint) => `${basePath(endpoint)}/chat/completions`),
    embeddings: native(embeddings, (endpoint) => `${basePath(endpoint)}/embeddings`),
  },

  headers: ({ apiKey, headers }) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    ...headers,
  }),

  failure: (status, headers, body) => classifyFailure(status, headers, readErrorBody(body)),

  models: {
    page: (endpoint) => `${basePath(endpoint)}/models`,
    read: (body) => modelPage(body),
  },
}

function basePath({ baseUrl }: Endpoint): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, '')
}
