import { embeddings } from '../formats/embeddings/format.ts'
import { readEmbeddingsAnswer, writeEmbeddingsRequest } from '../formats/gemini/embeddings.ts'
import { generateContent } from '../formats/gemini/upstream.ts'
import { readUpstreamError } from '../formats/upstream-error.ts'
import { classifyFailure } from '../upstream/classify.ts'
import { modelPage } from '../upstream/model-page.ts'
import { sameHeaders, lowerCaseNames } from './headers.ts'
import { understood } from './native.ts'
import type { Endpoint, Protocol } from './protocol.ts'
import { translated, versionedPath } from './translation.ts'

/**
 * Google's generateContent and streamGenerateContent (docs/protocols.md). `rename` is not used: the translation names
 * every field.
 */
export const gemini: Protocol = {
  dialects: {
    ...translated(generateContent, contentPath),
    embeddings: {
      answerBytesMax: embeddings.answerBytesMax,
      path: (endpoint, model) => `${modelPath(endpoint, model)}:batchEmbedContents`,
      encode: (ask, model, { overrides }) => writeEmbeddingsRequest(ask, model, overrides),
      decode: understood(readEmbeddingsAnswer),
    },
  },

  sign: sameHeaders(({ apiKey, headers }) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(apiKey === undefined ? {} : { 'x-goog-api-key': apiKey }),
    ...lowerCaseNames(headers),
  })),

  failure: (status, headers, body) => classifyFailure(status, headers, readUpstreamError(body)),

  models: {
    page(endpoint, cursor) {
      const after = cursor === undefined ? '' : `&pageToken=${encodeURIComponent(cursor)}`
      return `${versionedPath(endpoint, 'v1beta')}/models?pageSize=1000${after}`
    },
    read: (body) => modelPage(body, ({ nextPageToken }) => nextPageToken),
  },
}

function contentPath(endpoint: Endpoint, model: string, stream: boolean): string {
  return `${modelPath(endpoint, model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

function modelPath(endpoint: Endpoint, model: string): string {
  // Escaped, so that slashes, dots and question marks in a name cannot change the path.
  const segment = encodeURIComponent(model.replace(/^models\//, '').toWellFormed())
  return `${versionedPath(endpoint, 'v1beta')}/models/${segment}`
}
