import { embeddings } from '../formats/embeddings/format.ts'
import {
  readEmbeddingsAnswer,
  readLargeEmbeddingsAnswer,
  writeEmbeddingsRequest,
} from '../formats/gemini/embeddings.ts'
import { geminiOfCallers } from '../formats/gemini/format.ts'
import { batchEmbedContents, countGeminiTokens, embedContent } from '../formats/gemini/native-only.ts'
import { generateContent } from '../formats/gemini/upstream.ts'
import { readUpstreamError } from '../formats/upstream-error.ts'
import { classifyFailure } from '../upstream/classify.ts'
import { modelPage } from '../upstream/model-page.ts'
import { sameHeaders, lowerCaseNames } from './headers.ts'
import { largeDecoder, native, withUpstreamFailures } from './native.ts'
import type { Endpoint, Protocol } from './protocol.ts'
import { translated, versionedPath } from './translation.ts'

/**
 * Google's generateContent and streamGenerateContent (docs/protocols.md). `rename` is not used: the translation names
 * every field.
 */
export const gemini: Protocol = {
  dialects: {
    ...translated(generateContent, contentPath),
    gemini: native(geminiOfCallers, contentPath),
    gemini_count_tokens: native(countGeminiTokens, actionPath('countTokens')),
    gemini_embed: native(embedContent, actionPath('embedContent')),
    gemini_batch_embed: native(batchEmbedContents, actionPath('batchEmbedContents')),
    embeddings: {
      answerBytesMax: embeddings.answerBytesMax,
      path: actionPath('batchEmbedContents'),
      encode: writeEmbeddingsRequest,
      decode: withUpstreamFailures(readEmbeddingsAnswer),
      decodeLarge: largeDecoder(readLargeEmbeddingsAnswer),
    },
  },

  sign: sameHeaders(({ apiKey, headers }) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(apiKey === undefined ? {} : { 'x-goog-api-key': apiKey }),
    ...lowerCaseNames(headers),
  })),

  failure: (status, headers, body, brand) => classifyFailure(status, headers, readUpstreamError(body), brand),

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

function actionPath(action: string): (endpoint: Endpoint, model: string) => string {
  return (endpoint, model) => `${modelPath(endpoint, model)}:${action}`
}

function modelPath(endpoint: Endpoint, model: string): string {
  // Escaped, so that slashes, dots and question marks in a name cannot change the path.
  const segment = encodeURIComponent(model.replace(/^models\//, '').toWellFormed())
  return `${versionedPath(endpoint, 'v1beta')}/models/${segment}`
}
