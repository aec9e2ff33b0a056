import {
  anyValue,
  either,
  flag,
  integerFrom,
  kept,
  list,
  noted,
  numberFrom,
  object,
  oneOf,
  oneOrList,
  readOnce,
  text,
  textOr,
  type Shape,
} from '../request-shape.ts'
import { bothSpellings, spelled } from './spelling.ts'

/** The note of a name of the model. Others are names of fields that only providers of the same format get. */
export const modelNote = 'model'

const seedMax = 2 ** 31 - 1

const blob = spelled({ mimeType: text, data: text }, ['data'])
const part = kept(
  spelled({
    text,
    thought: flag,
    thoughtSignature: text,
    inlineData: blob,
    fileData: spelled({ mimeType: text, fileUri: text }),
    functionCall: object({ id: text, name: text, args: object({}) }, ['name']),
    functionResponse: object({ id: text, name: text, response: object({}), parts: list(object({})) }, ['name']),
  }),
  ['thoughtSignature', 'thought_signature', 'functionCall', 'function_call'],
  { needs: ['thoughtSignature', 'thought_signature'] },
)
const content = object({ role: oneOf('user', 'model', 'function'), parts: oneOrList(part) })

/** Only providers of the same format get these: they tune the answer, or are for Google's own use. */
function ownNames(names: readonly string[], within = ''): Readonly<Record<string, Shape>> {
  return Object.fromEntries(names.map((name) => [name, noted(`${within}${name}`)]))
}

const tool = spelled({
  functionDeclarations: list(
    spelled({ name: text, description: text, parameters: object({}), parametersJsonSchema: anyValue }, ['name']),
  ),
  ...ownNames(['googleSearch', 'googleSearchRetrieval', 'googleMaps', 'urlContext'], 'tools.'),
})

const generationConfig = readOnce(
  spelled({
    maxOutputTokens: integerFrom(0),
    temperature: numberFrom(0, 2),
    topP: numberFrom(0, 1),
    topK: integerFrom(0),
    stopSequences: list(text),
    candidateCount: integerFrom(1),
    presencePenalty: numberFrom(-2, 2),
    frequencyPenalty: numberFrom(-2, 2),
    seed: integerFrom(-seedMax - 1, seedMax),
    responseMimeType: text,
    responseSchema: object({}),
    responseModalities: list(text),
    thinkingConfig: readOnce(
      spelled({ includeThoughts: flag, thinkingBudget: integerFrom(-1), thinkingLevel: text }),
      true,
    ),
    ...ownNames(['mediaResolution', 'speechConfig', 'imageConfig'], 'generationConfig.'),
  }),
  true,
)

/** The shapes of top-level fields (https://ai.google.dev/api/generate-content). */
export const contentShapes: Readonly<Record<string, Shape>> = bothSpellings({
  contents: oneOrList(content, 1),
  systemInstruction: textOr(
    object({
      parts: either('an array of objects, an object or a string', { array: list(part), object: part, string: text }),
    }),
  ),
  tools: list(tool),
  toolConfig: spelled({
    functionCallingConfig: spelled({
      mode: oneOf('MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'),
      allowedFunctionNames: list(text),
    }),
    ...ownNames(['retrievalConfig'], 'toolConfig.'),
  }),
  generationConfig,
  ...ownNames(['safetySettings', 'labels', 'serviceTier', 'store']),
  cachedContent: anyValue,
})

/** The shapes of a request that counts tokens: contents, or a whole request. */
export const countShapes: Readonly<Record<string, Shape>> = bothSpellings({
  contents: oneOrList(content),
  generateContentRequest: readOnce(object({ ...contentShapes, model: noted(modelNote) }), true),
})

const embedding: Readonly<Record<string, Shape>> = {
  content: object({ parts: oneOrList(part) }),
  outputDimensionality: integerFrom(1),
  ...ownNames(['taskType', 'title', 'embedContentConfig']),
}

/** The shapes of a request for one embedding. */
export const embedShapes: Readonly<Record<string, Shape>> = bothSpellings(embedding)

/** The shapes of a request for several embeddings. */
export const batchEmbedShapes: Readonly<Record<string, Shape>> = {
  requests: list(readOnce(spelled({ ...embedding, model: noted(modelNote) }, ['content']), true), 1),
}
