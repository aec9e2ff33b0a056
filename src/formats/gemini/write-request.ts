import type { JsonObject } from '../../base/json-value.ts'
import type { AnswerFormat, Conversation, Tools } from '../conversation.ts'
import { objectOf, pick } from '../exact-json.ts'
import type { ChangeNotes, PassThroughTarget } from '../format.ts'
import { asksForAudio, keepSystemInPlace, splitSystem, takenStops } from '../turns.ts'
import { untranslatable } from '../untranslatable.ts'
import type { Target } from '../upstream-format.ts'
import { geminiModel, type GeminiModel } from './models.ts'
import { writeContents } from './write-contents.ts'

/** Gemini's own top-level fields that pass through, in both spellings that Google accepts. */
const ownFields: ReadonlySet<string> = new Set([
  'safetySettings',
  'safety_settings',
  'cachedContent',
  'cached_content',
  'labels',
  'serviceTier',
])

const stopSequencesMax = 5

/**
 * Writes a request of generateContent. Leaves out settings that have no counterpart and only tune the answer.
 *
 * @throws {UpstreamFailure} `bad_request` for settings that would change the answer: sound, a stream of several choices
 */
export function writeGeminiRequest(
  conversation: Conversation,
  { model: modelName, isStream, profile }: Target & PassThroughTarget,
  changes?: ChangeNotes,
): JsonObject {
  const { own } = conversation
  if (isStream && (conversation.choices ?? 1) > 1) throw untranslatable('A stream of several choices')
  if (asksForAudio(conversation)) throw untranslatable('A request for sound')
  const model = geminiModel(modelName)
  const turns = conversation.format === 'chat' ? conversation.turns : keepSystemInPlace(conversation.turns)
  const { systemInstruction, contents } = writeContents(splitSystem(turns), model.signsCalls || profile.signedCalls)
  const instruction = systemInstruction ?? own['systemInstruction'] ?? own['system_instruction']
  const generationConfig = {
    ...generation(conversation, model, changes),
    ...objectOf(own['generation_config']),
    ...objectOf(own['generationConfig']),
  }
  return {
    ...(instruction === undefined ? {} : { systemInstruction: instruction }),
    contents,
    ...toolFields(conversation.tools, objectOf(own['toolConfig'] ?? own['tool_config'])),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    ...pick(own, ownFields),
  }
}

function generation(conversation: Conversation, model: GeminiModel, changes: ChangeNotes | undefined): JsonObject {
  const { effort, seed } = conversation
  const stops = takenStops(conversation.stops, stopSequencesMax, changes)
  const modalities = conversation.modalities.map((modality) => modality.toUpperCase())
  const fields = {
    maxOutputTokens: conversation.maxTokens,
    temperature: conversation.temperature,
    topP: conversation.topP,
    topK: conversation.topK,
    stopSequences: stops.length === 0 ? undefined : stops,
    candidateCount: conversation.choices,
    // Gemini's seed has 32 bits.
    seed: seed === undefined ? undefined : seed | 0,
    presencePenalty: conversation.presencePenalty,
    frequencyPenalty: conversation.frequencyPenalty,
    ...logprobFields(conversation),
    ...formatFields(conversation.answerFormat),
    responseModalities: modalities.length === 0 ? undefined : modalities,
    thinkingConfig: effort === undefined ? undefined : model.thinkingConfig(effort),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function logprobFields({ logprobs }: Conversation): JsonObject {
  if (logprobs === undefined) return {}
  const { alternatives } = logprobs
  return {
    responseLogprobs: true,
    ...(alternatives === undefined || alternatives === 0 ? {} : { logprobs: alternatives }),
  }
}

function formatFields(format: AnswerFormat): JsonObject {
  if (format.kind === 'text') return {}
  return {
    responseMimeType: 'application/json',
    ...(format.kind === 'schema' ? { responseJsonSchema: format.schema } : {}),
  }
}

function toolFields(tools: Tools, ownConfig: JsonObject): JsonObject {
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

/** `strict` functions get the mode `VALIDATED`, unless calls are forced. */
function functionCalling({ choice, functions }: Tools): JsonObject | undefined {
  const isStrict = functions.some((tool) => tool.isStrict)
  switch (choice?.kind) {
    case undefined:
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
