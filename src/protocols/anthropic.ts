import { readErrorBody } from '../wire/error-body.ts'
import { anthropicReply } from './anthropic-reply.ts'
import { anthropicRequest } from './anthropic-request.ts'
import { anthropicStream } from './anthropic-stream.ts'
import { readBody } from './chat-options.ts'
import { classifyFailure } from './classify.ts'
import { isDone } from './done.ts'
import { encodeJson } from './json-value.ts'
import type { Protocol } from './protocol.ts'
import { lowerCaseNames, readAnswer, readEvent, versionedPath } from './translation.ts'

/** The Anthropic Messages API (docs/protocols.md). `rename` is not used: the translation names every field. */
export const anthropic: Protocol = {
  path: (connection) => `${versionedPath(connection, 'v1')}/messages`,

  headers: ({ apiKey, headers }) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'anthropic-version': '2023-06-01',
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
    ...lowerCaseNames(headers),
  }),

  encode(request, model, connection) {
    const translated = anthropicRequest(readBody(request, connection), model, request.stream)
    return [encodeJson({ ...translated, ...connection.overrides })]
  },

  decode: (body, request) => anthropicReply(readAnswer(body), request.model),

  stream(request) {
    const { read } = anthropicStream(request)
    return { decode: (event) => (isDone(event.data) ? 'done' : read(readEvent(event))) }
  },

  failure: (status, headers, body) => classifyFailure(status, headers, readErrorBody(body)),
}
