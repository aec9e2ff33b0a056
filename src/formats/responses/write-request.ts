import type { JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { answerInstruction } from '../answer-instruction.ts'
import type { AnswerFormat, Conversation, FunctionTool, ToolChoice, Tools } from '../conversation.ts'
import { pick } from '../exact-json.ts'
import type { ChangeNotes, PassThroughTarget } from '../format.ts'
import { noteLeftOut } from '../left-out.ts'
import { asksForAudio, takenStops } from '../turns.ts'
import { untranslatable } from '../untranslatable.ts'
import type { Target } from '../upstream-format.ts'
import { fitItemIds, leadingSystem, writeItems } from './write-items.ts'

/** Fields that chat completions and Responses have in common. */
const commonFields: ReadonlySet<string> = new Set([
  'metadata',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'user',
])

/**
 * Writes a request for a response that the provider does not store. Settings that have no counterpart and only tune the
 * answer are left out. The model's reasoning is asked for in the form in which it can be sent back.
 *
 * @throws {UpstreamFailure} `bad_request` for settings that would change the answer: several choices and sound
 */
export function writeResponsesRequest(
  conversation: Conversation,
  { model, isStream, profile }: Target & PassThroughTarget,
  changes?: ChangeNotes,
): JsonObject {
  const { turns, tools, answerFormat, effort, logprobs } = conversation
  if ((conversation.choices ?? 1) > 1) throw untranslatable('A request for several choices')
  if (asksForAudio(conversation)) throw untranslatable('A request for sound')
  takenStops(conversation.stops, 0, changes)
  noteLeftOut(conversation, ['topK', 'seed', 'presencePenalty', 'frequencyPenalty'], changes)
  if (conversation.format === 'chat') noteOwnMembers(conversation, changes)
  const { instructions, rest } = leadingSystem(turns)
  return {
    model,
    instructions,
    input: withWord(fitItemIds(writeItems(rest), profile), conversation, profile),
    ...toolFields(tools),
    text: writeFormat(answerFormat),
    reasoning: effort === undefined ? undefined : { effort },
    max_output_tokens: conversation.maxTokens,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    top_logprobs: logprobs?.alternatives,
    include: included(conversation, profile),
    store: false,
    ...(conversation.format === 'chat' ? chatFields(conversation) : {}),
    stream: isStream || undefined,
  }
}

/** Members of chat completions that are written in another way, or that are noted elsewhere. */
const writtenMembers: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'store', 'verbosity', 'reasoning', 'logit_bias'],
])

/** Notes the other members of a chat request, which that format passes on as they are. */
function noteOwnMembers({ own }: Conversation, changes: ChangeNotes | undefined): void {
  for (const name of Object.keys(own)) if (!commonFields.has(name) && !writtenMembers.has(name)) changes?.drop(name)
}

/** Fields that mean the same in chat completions. */
function chatFields({ own, serviceTier, answerFormat }: Conversation): JsonObject {
  const { store, verbosity } = own
  return {
    ...pick(own, commonFields),
    service_tier: serviceTier,
    store: store === true,
    ...(verbosity === undefined ? {} : { text: { ...writeFormat(answerFormat), verbosity } }),
  }
}

function included({ logprobs }: Conversation, { thinks }: TargetProfile): readonly string[] | undefined {
  const names = [
    ...(thinks === 'unknown' || thinks === 'never' ? [] : ['reasoning.encrypted_content']),
    ...(logprobs === undefined ? [] : ['message.output_text.logprobs']),
  ]
  return names.length === 0 ? undefined : names
}

/** The items, with the word "JSON" where the target needs it: it looks for it in them, not in the instructions. */
function withWord(
  items: readonly JsonObject[],
  { answerFormat }: Conversation,
  { needsWordJson }: TargetProfile,
): readonly JsonObject[] {
  if (answerFormat.kind !== 'json' || !needsWordJson || /json/i.test(JSON.stringify(items))) return items
  return [{ type: 'message', role: 'developer', content: answerInstruction(undefined) }, ...items]
}

function toolFields({ functions, own, choice, oneAtATime }: Tools): JsonObject {
  if (own.length > 0) throw untranslatable("A tool of another vendor's kind")
  if (functions.length === 0) return {}
  return {
    tools: functions.map(writeFunction),
    tool_choice: writeChoice(choice),
    parallel_tool_calls: oneAtATime ? false : undefined,
  }
}

/** Without `strict`, this format means "if the schema allows". */
function writeFunction({ name, description, parameters, isStrict }: FunctionTool): JsonObject {
  return {
    type: 'function',
    name,
    description,
    parameters: parameters ?? { type: 'object', properties: {} },
    strict: isStrict,
  }
}

function writeChoice(choice: ToolChoice | undefined): unknown {
  return choice?.kind === 'function' ? { type: 'function', name: choice.name } : choice?.kind
}

/** `text`, with the form of the answer. */
function writeFormat(format: AnswerFormat): JsonObject | undefined {
  switch (format.kind) {
    case 'text':
      return undefined
    case 'json':
      return { format: { type: 'json_object' } }
    case 'schema': {
      const { name = 'answer', description, schema, isStrict } = format
      return { format: { type: 'json_schema', name, description, schema, strict: isStrict } }
    }
  }
}
