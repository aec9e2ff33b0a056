import type { JsonObject } from '../../base/json-value.ts'
import { encodeJson, isObject, objectOf } from '../exact-json.ts'
import { jsonAnswers } from '../json-answers.ts'
import type { UpstreamFormat } from '../upstream-format.ts'
import { geminiAnswerReader, readGeminiAnswer } from './answer-reader.ts'
import { writeGeminiRequest } from './write-request.ts'

/** An event may have a picture. */
export const geminiEventBytesMax = 16 * 1024 * 1024

/** Google's generateContent and streamGenerateContent. */
export const generateContent: UpstreamFormat = {
  eventBytesMax: geminiEventBytesMax,
  functionNames: /^[A-Za-z_][\w.:-]{0,63}$/,
  write: (conversation, target, changes) => [
    encodeJson(
      override(override(target.defaults ?? {}, writeGeminiRequest(conversation, target, changes)), target.overrides),
    ),
  ],
  // A signature has the reasoning before its call.
  losesReasoning: (parts) =>
    parts.some(({ kind }) => kind === 'reasoning') &&
    !parts.some((part) => part.kind === 'call' && part.opaque?.maker === 'google'),
  ...jsonAnswers({ readAnswer: readGeminiAnswer, answerReader: geminiAnswerReader }),
}

/** Overrides replace whole fields; those of `generationConfig` are replaced one by one. */
function override(request: JsonObject, overrides: JsonObject): JsonObject {
  const { generationConfig } = overrides
  if (!isObject(generationConfig)) return { ...request, ...overrides }
  const merged = { ...objectOf(request['generationConfig']), ...generationConfig }
  return { ...request, ...overrides, generationConfig: merged }
}
