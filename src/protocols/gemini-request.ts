import { readConversation, untranslatable } from './chat-conversation.ts'
import { readEffort, readFormat, readMaxTokens, readStops, wantsAudio } from './chat-options.ts'
import { readTools } from './chat-tools.ts'
import type { ChatTools } from './chat-tools.ts'
import { geminiContents } from './gemini-contents.ts'
import { geminiModel } from './gemini-models.ts'
import type { GeminiModel } from './gemini-models.ts'
import { isObject, listOf, numberOf, objectOf, pick, textOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'

/** Gemini's own top-level fields that pass through, in both spellings that Google accepts. */
const ownFields: ReadonlySet<string> = new Set([
  'safetySettings',
  'safety_settings',
  'cachedContent',
  'cached_content',
  'labels',
  'serviceTier',
])

const stopSequencesMost = 5

/**
 * Translates a chat-completions request into one of generateContent. What has no counterpart and only tunes the answer
 * is left out.
 *
 * @param body without the fields the provider refuses
 * @throws {UpstreamFailure} for what would change the answer: sound, custom tools, a stream of several choices
 */
export function geminiRequest(body: JsonObject, modelName: string, isStream: boolean): JsonObject {
  if (isStream && (numberOf(body['n']) ?? 1) > 1) throw untranslatable('A stream of several choices')
  if (wantsAudio(body)) throw untranslatable('A request for sound')
  const model = geminiModel(modelName)
  const { systemInstruction, contents } = geminiContents(readConversation(body['messages']), model.signsCalls)
  const instruction = systemInstruction ?? body['systemInstruction'] ?? body['system_instruction']
  const generationConfig = {
    ...generation(body, model),
    ...objectOf(body['generation_config']),
    ...objectOf(body['generationConfig']),
  }
  return {
    ...(instruction === undefined ? {} : { systemInstruction: instruction }),
    contents,
    ...toolFields(readTools(body), objectOf(body['toolConfig'] ?? body['tool_config'])),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    ...pick(body, ownFields),
  }
}

/** Overrides replace whole fields; those of `generationConfig` are fields of their own. */
export function withOverrides(request: JsonObject, overrides: JsonObject): JsonObject {
  const { generationConfig } = overrides
  if (!isObject(generationConfig)) return { ...request, ...overrides }
  return {
    ...request,
    ...overrides,
    generationConfig: { ...objectOf(request['generationConfig']), ...generationConfig },
  }
}

function generation(body: JsonObject, model: GeminiModel): JsonObject {
  const stops = readStops(body).slice(0, stopSequencesMost)
  const effort = readEffort(body)
  const seed = numberOf(body['seed'])
  const fields = {
    maxOutputTokens: readMaxTokens(body),
    temperature: numberOf(body['temperature']),
    topP: numberOf(body['top_p']),
    topK: numberOf(body['top_k']),
    stopSequences: stops.length === 0 ? undefined : stops,
    candidateCount: numberOf(body['n']),
    // Gemini's seed has 32 bits; the same seed still gives the same answer.
    seed: seed === undefined ? undefined : seed | 0,
    presencePenalty: numberOf(body['presence_penalty']),
    frequencyPenalty: numberOf(body['frequency_penalty']),
    ...logprobFields(body),
    ...formatFields(body),
    responseModalities: modalities(body),
    thinkingConfig: effort === undefined ? undefined : model.thinkingConfig(effort),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function logprobFields(body: JsonObject): JsonObject {
  if (body['logprobs'] !== true) return {}
  const most = numberOf(body['top_logprobs'])
  return { responseLogprobs: true, ...(most === undefined || most === 0 ? {} : { logprobs: most }) }
}

function formatFields(body: JsonObject): JsonObject {
  const format = readFormat(body)
  if (format.kind === 'text') return {}
  return {
    responseMimeType: 'application/json',
    ...(format.kind === 'schema' ? { responseJsonSchema: format.schema } : {}),
  }
}

function modalities(body: JsonObject): readonly string[] | undefined {
  const named = listOf(body['modalities']).flatMap((modality) => textOf(modality)?.toUpperCase() ?? [])
  return named.length === 0 ? undefined : named
}

function toolFields(tools: ChatTools, ownConfig: JsonObject): JsonObject {
  const declarations = tools.functions.map(({ name, description, parameters }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parametersJsonSchema: parameters }),
  }))
  const declared = [...(declarations.length === 0 ? [] : [{ functionDeclarations: declarations }]), ...tools.own]
  const calling = declarations.length === 0 ? undefined : functionCalling(tools)
  const toolConfig = { ...(calling === undefined ? {} : { functionCallingConfig: calling }), ...ownConfig }
  return {
    ...(declared.length === 0 ? {} : { tools: declared }),
    ...(Object.keys(toolConfig).length === 0 ? {} : { toolConfig }),
  }
}

/** `strict` tools are held to their schema by the mode `VALIDATED`, where calls are not forced anyway. */
function functionCalling({ choice, functions }: ChatTools): JsonObject | undefined {
  const isStrict = functions.some(({ strict }) => strict)
  switch (choice.kind) {
    case 'unset':
      return isStrict ? { mode: 'VALIDATED' } : undefined
    case 'auto':
      return { mode: isStrict ? 'VALIDATED' : 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'function':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
  }
}
