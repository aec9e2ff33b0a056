import { readErrorBody } from '../wire/error-body.ts'
import { readBody } from './chat-options.ts'
import { classifyFailure } from './classify.ts'
import { isDone } from './done.ts'
import { geminiReply } from './gemini-reply.ts'
import { geminiRequest, withOverrides } from './gemini-request.ts'
import { geminiStream } from './gemini-stream.ts'
import { encodeJson } from './json-value.ts'
import type { Protocol } from './protocol.ts'
import { lowerCaseNames, readAnswer, readEvent, versionedPath } from './translation.ts'

/**
 * Google's generateContent and streamGenerateContent (docs/protocols.md). `rename` is not used: the translation names
 * every field.
 */
export const gemini: Protocol = {
  path(connection, model, stream) {
    // Slashes, dots and question marks in a name must not lead anywhere else: it is one segment.
    const segment = encodeURIComponent(model.replace(/^models\//, '').toWellFormed())
    return `${versionedPath(connection, 'v1beta')}/models/${segment}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
  },

  headers: ({ apiKey, headers }) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(apiKey === undefined ? {} : { 'x-goog-api-key': apiKey }),
    ...lowerCaseNames(headers),
  }),

  encode(request, model, connection) {
    const translated = geminiRequest(readBody(request, connection), model, request.stream)
    return [encodeJson(withOverrides(translated, connection.overrides))]
  },

  decode: (body, request) => geminiReply(readAnswer(body), request.model),

  stream(request) {
    const { read } = geminiStream(request)
    return { decode: (event) => (isDone(event.data) ? 'done' : read(readEvent(event))) }
  },

  failure: (status, headers, body) => classifyFailure(status, headers, readErrorBody(body)),
}
