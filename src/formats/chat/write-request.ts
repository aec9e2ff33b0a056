import type { JsonObject } from '../../base/json-value.ts'
import type { AnswerFormat, Conversation, FunctionTool, ToolChoice, Tools } from '../conversation.ts'
import type { ChangeNotes, PassThroughTarget } from '../format.ts'
import { noteLeftOut } from '../left-out.ts'
import { untranslatable } from '../untranslatable.ts'
import type { Target } from '../upstream-format.ts'
import { writeMessages, type WrittenParts } from './write-turns.ts'

/** A target without a profile takes the widely used fields. */
type ChatTarget = Target & Partial<Pick<PassThroughTarget, 'profile'>>

/**
 * Writes a request in the widely used fields, and all fields of a conversation that was read from chat completions.
 * Members without a value are undefined, which JSON leaves out. Streams are asked for usage.
 *
 * @throws {UpstreamFailure} `bad_request` for a conversation without content, and for a tool of another vendor's kind
 */
export function writeChatRequest(
  conversation: Conversation,
  { model, isStream, profile }: ChatTarget,
  changes?: ChangeNotes,
): JsonObject {
  const { stops, modalities, logprobs, cacheKey } = conversation
  const isOwn = conversation.format === 'chat'
  const isMarked = isOwn || profile?.takesCacheMarks === true
  if (!isOwn) noteLeftOut(conversation, ['topK'], changes)
  return {
    ...(isStream ? { stream_options: { include_usage: true } } : {}),
    ...(isOwn ? ownFields(conversation) : {}),
    model,
    messages: writeMessages(conversation.turns, { isOwn, isMarked }),
    ...toolFields(conversation.tools, { isOwn, isMarked }),
    ...(profile?.takesCacheKey === true && cacheKey !== undefined ? { prompt_cache_key: cacheKey } : {}),
    response_format: writeAnswerFormat(conversation.answerFormat),
    modalities: modalities.length === 0 ? undefined : modalities,
    reasoning_effort: conversation.effort,
    max_completion_tokens: conversation.maxTokens,
    stop: stops.length === 0 ? undefined : stops,
    n: conversation.choices,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    presence_penalty: conversation.presencePenalty,
    frequency_penalty: conversation.frequencyPenalty,
    seed: conversation.seed,
    logprobs: logprobs === undefined ? undefined : true,
    top_logprobs: logprobs?.alternatives,
    stream: isStream || undefined,
  }
}

/** Fields that not every provider takes, or that have another meaning in other formats. */
function ownFields({ own, topK, serviceTier }: Conversation): JsonObject {
  return { top_k: topK, service_tier: serviceTier, ...own }
}

function toolFields({ functions, own, choice, oneAtATime }: Tools, { isOwn, isMarked }: WrittenParts): JsonObject {
  if (own.length > 0 && !isOwn) throw untranslatable("A tool of another vendor's kind")
  const tools = [...functions.map((declared) => writeFunction(declared, isMarked)), ...own]
  if (tools.length === 0) return {}
  return { tools, tool_choice: writeChoice(choice), parallel_tool_calls: oneAtATime ? false : undefined }
}

function writeFunction(declared: FunctionTool, isMarked: boolean): JsonObject {
  const { name, description, parameters, isStrict, cacheControl } = declared
  const written = { type: 'function', function: { name, description, parameters, strict: isStrict || undefined } }
  return isMarked ? { ...written, cache_control: cacheControl } : written
}

function writeChoice(choice: ToolChoice | undefined): unknown {
  return choice?.kind === 'function' ? { type: 'function', function: { name: choice.name } } : choice?.kind
}

function writeAnswerFormat(format: AnswerFormat): JsonObject | undefined {
  switch (format.kind) {
    case 'text':
      return undefined
    case 'json':
      return { type: 'json_object' }
    case 'schema': {
      const { name = 'answer', description, schema, isStrict } = format
      return { type: 'json_schema', json_schema: { name, description, schema, strict: isStrict || undefined } }
    }
  }
}
