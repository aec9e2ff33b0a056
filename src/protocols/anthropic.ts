import { countTokens } from '../formats/messages/count-tokens.ts'
import { messagesOfCallers } from '../formats/messages/format.ts'
import { messages } from '../formats/messages/upstream.ts'
import { readUpstreamError } from '../formats/upstream-error.ts'
import { classifyFailure } from '../upstream/classify.ts'
import { modelPage } from '../upstream/model-page.ts'
import { lowerCaseNames } from './headers.ts'
import { native } from './native.ts'
import type { Endpoint, Protocol, RequestHeaders, Signer } from './protocol.ts'
import { translated, versionedPath } from './translation.ts'

/** Adds headers of callers. Clients send the same ones again and again, so the last headers are kept. */
function callersHeaders(own: RequestHeaders): Signer {
  let known = own
  let last: RequestHeaders = {}
  return ({ headers = {} }) => {
    if (betaOf(headers) === betaOf(last) && versionOf(headers) === versionOf(last)) return known
    last = headers
    const betas = [betaOf(own), betaOf(headers)].filter((list) => list !== undefined)
    known = { ...own, ...headers, ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }) }
    return known
  }
}

function betaOf(headers: RequestHeaders): string | undefined {
  return headers['anthropic-beta']
}

function versionOf(headers: RequestHeaders): string | undefined {
  return headers['anthropic-version']
}

/**
 * The Anthropic Messages API (docs/protocols.md). Its requests and answers, with their tool calls, are written and read
 * in `formats/messages/`. `rename` is not used: the translation names every field.
 */
export const anthropic: Protocol = {
  dialects: {
    ...translated(messages, messagesPath),
    messages: native(messagesOfCallers, messagesPath),
    count_tokens: native(countTokens, (endpoint) => `${messagesPath(endpoint)}/count_tokens`),
  },

  sign({ apiKey, headers }) {
    const own = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'anthropic-version': '2023-06-01',
      ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
      ...lowerCaseNames(headers),
    }
    return callersHeaders(own)
  },

  failure: (status, headers, body, brand) => classifyFailure(status, headers, readUpstreamError(body), brand),

  models: {
    page(endpoint, cursor) {
      const after = cursor === undefined ? '' : `&after_id=${encodeURIComponent(cursor)}`
      return `${versionedPath(endpoint, 'v1')}/models?limit=1000${after}`
    },
    read: (body) => modelPage(body, ({ has_more, last_id }) => (has_more === true ? last_id : undefined)),
  },
}

function messagesPath(endpoint: Endpoint): string {
  return `${versionedPath(endpoint, 'v1')}/messages`
}
