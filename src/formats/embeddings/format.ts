import { checkBody, checkLargeBody } from '../check-body.ts'
import { demandReader } from '../demand.ts'
import type { Format } from '../format.ts'
import { spliceRequest } from '../splice-request.ts'
import { readEmbeddings, readLargeEmbeddings } from './answer.ts'
import { readRequest, type EmbeddingsRequest } from './request.ts'

/** Embeddings in the widely used format (docs/api.md). */
export const embeddings: Format = {
  name: 'embeddings',
  path: '/v1/embeddings',
  check: (body) => checkBody(body, readRequest),
  checkLarge: (body, pause) => checkLargeBody(body, readRequest, pause),
  // 2,048 inputs of 3,072 numbers as base64 take 34 MB, of 1,536 numbers as JSON 64 MB.
  answerBytesMax: 64 * 1024 * 1024,
  // Vectors of different models cannot be compared.
  needsSameModel: true,
  isText: false,
  isPromptOnly: true,
  demand: demandReader({ prompt: ['input'], answerTokens: 'none' }),
  errorBody: (error) => JSON.stringify(error),

  passThrough: {
    write: (ask, model, { overrides, defaults = {}, profile: { rename, drop } }) =>
      spliceRequest(ask, { model, overrides, defaults, rename, drop }),
    readWhole: (body, request: EmbeddingsRequest) => readEmbeddings(body, request),
    readLarge: (body, request: EmbeddingsRequest, pause) => readLargeEmbeddings(body, request, pause),
  },
}
