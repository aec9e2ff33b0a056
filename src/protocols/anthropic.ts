import { readErrorBody } from '../formats/error-body.ts'
import { messages } from '../formats/messages/upstream.ts'
import { classifyFailure } from '../upstream/classify.ts'
import { modelPage } from '../upstream/model-page.ts'
import { sameHeaders, lowerCaseNames } from './headers.ts'
import type { Protocol } from './protocol.ts'
import { translated, versionedPath } from './translation.ts'

/** The Anthropic Messages API (docs/protocols.md). `rename` is not used: the translation names every field. */
export const anthropic: Protocol = {
  dialects: {
    ...translated(messages, (endpoint) => `${versionedPath(endpoint, 'v1')}/messages`),
  },

  sign: sameHeaders(({ apiKey, headers }) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'anthropic-version': '2023-06-01',
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
    ...lowerCaseNames(headers),
  })),

  failure: (status, headers, body) => classifyFailure(status, headers, readErrorBody(body)),

  models: {
    page(endpoint, cursor) {
      const after = cursor === undefined ? '' : `&after_id=${encodeURIComponent(cursor)}`
      return `${versionedPath(endpoint, 'v1')}/models?limit=1000${after}`
    },
    read: (body) => modelPage(body, ({ has_more, last_id }) => (has_more === true ? last_id : undefined)),
  },
}
