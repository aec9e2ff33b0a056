import type { JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { answerInstruction } from '../answer-instruction.ts'
import type { AnswerFormat, Conversation, Effort, FunctionTool, Tools } from '../conversation.ts'
import { objectOf, objectsOf, pick, textOf } from '../exact-json.ts'
import type { ChangeNotes, PassThroughTarget } from '../format.ts'
import { noteLeftOut } from '../left-out.ts'
import { asksForAudio, splitSystem, takenStops } from '../turns.ts'
import { untranslatable } from '../untranslatable.ts'
import type { Target } from '../upstream-format.ts'
import { withLastMarks } from './fit-content.ts'
import { lacksThinking, writeTurns } from './write-turns.ts'

/** Anthropic's own top-level fields. They pass through unchanged and replace translated fields. */
const ownFields: ReadonlySet<string> = new Set([
  'cache_control',
  'container',
  'context_management',
  'inference_geo',
  'mcp_servers',
  'output_config',
  'speed',
  'stop_sequences',
  'thinking',
])

const budgetTokensMin = 1_024
const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: budgetTokensMin,
  low: budgetTokensMin,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
}

/**
 * Writes a request of the Messages API. Leaves out settings that have no counterpart and only tune the answer.
 *
 * @throws {UpstreamFailure} `bad_request` for settings that would change the answer: several choices, sound, and media
 *   that Anthropic does not read
 */
export function writeMessagesRequest(
  conversation: Conversation,
  { model: modelName, isStream, profile }: Target & PassThroughTarget,
  changes?: ChangeNotes,
): JsonObject {
  const { answerFormat, effort, tools, own } = conversation
  const stops = takenStops(conversation.stops, Infinity, changes)
  if ((conversation.choices ?? 1) > 1) throw untranslatable('A request for several choices')
  if (asksForAudio(conversation)) throw untranslatable('A request for sound')
  const model = modelOf(modelName, profile)
  const turns = splitSystem(conversation.turns)
  const { system, messages } = writeTurns(turns, profile.unsignedThinking)
  const maxTokens = conversation.maxTokens ?? model.maxTokens
  const mayThink = !isForced(tools) && !(model.thinking === 'budget' && lacksThinking(turns))
  const thinking = own['thinking'] ?? thinkingFor(model, effort, maxTokens, mayThink)
  const { outputConfig, instruction } = answerShape(answerFormat, model, effort)

  const written = {
    model: modelName,
    max_tokens: maxTokens,
    ...withInstruction(system ?? ownSystem(own), instruction),
    messages,
    ...toolFields(tools),
    ...sampling(conversation, isOn(thinking), changes),
    ...(stops.length === 0 ? {} : { stop_sequences: stops }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(Object.keys(outputConfig).length === 0 ? {} : { output_config: outputConfig }),
    ...accounting(conversation),
    ...pick(own, ownFields),
    ...(isStream ? { stream: true } : {}),
  }
  const marked = withLastMarks(written, profile.cacheMarks)
  if (marked !== written) changes?.adjust('cache_control')
  return marked
}

/** The model's abilities, with those of its profile. */
function modelOf(name: string, { thinkingForm }: TargetProfile): MessagesModel {
  const model = messagesModel(name)
  return thinkingForm === 'budget' ? model : { ...model, thinking: 'adaptive' }
}

/** Anthropic's own `system` field, used when there are no system messages. */
function ownSystem({ system }: JsonObject): string | readonly JsonObject[] | undefined {
  return Array.isArray(system) ? objectsOf(system) : textOf(system)
}

function withInstruction(
  system: string | readonly JsonObject[] | undefined,
  instruction: string | undefined,
): JsonObject {
  if (instruction === undefined) return system === undefined ? {} : { system }
  if (system === undefined) return { system: instruction }
  if (typeof system === 'string') return { system: `${system}\n${instruction}` }
  return { system: [...system, { type: 'text', text: instruction }] }
}

interface AnswerShape {
  readonly outputConfig: JsonObject
  /** An instruction in place of a schema, for models without schemas. */
  readonly instruction: string | undefined
}

function answerShape(format: AnswerFormat, model: MessagesModel, effort: Effort | undefined): AnswerShape {
  const isNative = format.kind === 'schema' && model.schemas
  return {
    outputConfig: {
      ...(model.thinking === 'adaptive' && effort !== undefined ? effortField(model, effort) : {}),
      ...(isNative ? { format: { type: 'json_schema', schema: format.schema } } : {}),
    },
    instruction: isNative ? undefined : instructionFor(format),
  }
}

function instructionFor(format: AnswerFormat): string | undefined {
  switch (format.kind) {
    case 'text':
      return undefined
    case 'json':
      return answerInstruction(undefined)
    case 'schema':
      return answerInstruction(format.schema)
  }
}

function effortField(model: MessagesModel, effort: Effort): JsonObject {
  if (effort === 'none') return model.mayNotThink ? {} : { effort: 'low' }
  if (effort === 'minimal') return { effort: 'low' }
  return { effort: effort === 'xhigh' && !model.xhigh ? 'high' : effort }
}

/** `thinking` for an effort; undefined where none is asked for, known, or possible with so few tokens. */
function thinkingFor(
  model: MessagesModel,
  effort: Effort | undefined,
  maxTokens: number,
  mayThink: boolean,
): JsonObject | undefined {
  if (effort === undefined || model.thinking === 'none') return undefined
  if (effort === 'none') return model.mayNotThink ? { type: 'disabled' } : undefined
  if (!mayThink) return undefined
  if (model.thinking === 'adaptive') return { type: 'adaptive' }
  const budget = Math.min(budgets[effort], Math.floor(maxTokens / 2))
  return budget < budgetTokensMin ? undefined : { type: 'enabled', budget_tokens: budget }
}

function isOn(thinking: unknown): boolean {
  const { type } = objectOf(thinking)
  return type === 'enabled' || type === 'adaptive'
}

/** Temperature is 0 to 1 here, and with thinking none but 1; with a temperature, `top_p` is refused. */
function sampling(conversation: Conversation, isThinking: boolean, changes: ChangeNotes | undefined): JsonObject {
  const { temperature, topP, topK } = conversation
  noteLeftOut(conversation, ['seed', 'presencePenalty', 'frequencyPenalty', 'logprobs'], changes)
  if (isThinking) noteLeftOut(conversation, ['temperature', 'topP', 'topK'], changes)
  else if (temperature !== undefined) noteLeftOut(conversation, ['topP'], changes)
  if (isThinking) return {}
  return {
    ...(temperature === undefined ? {} : { temperature: Math.min(temperature, 1) }),
    ...(topP === undefined || temperature !== undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  }
}

/**
 * The caller's id of the user, and the service tiers that Anthropic has; other formats have tiers of other meanings.
 */
function accounting({ user, serviceTier }: Conversation): JsonObject {
  return {
    ...(user === undefined ? {} : { metadata: { user_id: user } }),
    ...(serviceTier === 'auto' || serviceTier === 'standard_only' ? { service_tier: serviceTier } : {}),
  }
}

function toolFields(tools: Tools): JsonObject {
  const declared = [...tools.functions.map(declaration), ...tools.own]
  if (declared.length === 0) return {}
  const choice = toolChoice(tools)
  return { tools: declared, ...(choice === undefined ? {} : { tool_choice: choice }) }
}

function declaration({ name, description, parameters, cacheControl }: FunctionTool): JsonObject {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: parameters === undefined ? { type: 'object', properties: {} } : { type: 'object', ...parameters },
    ...(cacheControl === undefined ? {} : { cache_control: cacheControl }),
  }
}

function toolChoice({ choice, oneAtATime }: Tools): JsonObject | undefined {
  const once = oneAtATime ? { disable_parallel_tool_use: true } : {}
  switch (choice?.kind) {
    case undefined:
      return oneAtATime ? { type: 'auto', ...once } : undefined
    case 'auto':
      return { type: 'auto', ...once }
    case 'none':
      return { type: 'none' }
    case 'required':
      return { type: 'any', ...once }
    case 'function':
      return { type: 'tool', name: choice.name, ...once }
  }
}

/** A forced choice of tool and thinking exclude each other. */
function isForced({ choice }: Tools): boolean {
  return choice?.kind === 'required' || choice?.kind === 'function'
}

/** Abilities of one of Anthropic's models. */
interface MessagesModel {
  /** Default of `max_tokens`, which the API requires. */
  readonly maxTokens: number
  /** Whether thinking is requested by a budget of tokens, or by an effort; `none`: the model does not think. */
  readonly thinking: 'none' | 'budget' | 'adaptive'
  /** Whether thinking can be switched off. */
  readonly mayNotThink: boolean
  /** Whether a JSON Schema of the answer is accepted. */
  readonly schemas: boolean
  /** Whether the effort `xhigh` is known. */
  readonly xhigh: boolean
}

const newest: MessagesModel = {
  maxTokens: 128_000,
  thinking: 'adaptive',
  mayNotThink: true,

  schemas: true,
  xhigh: true,
}

/** The first match counts. Source: Anthropic's documentation and Vercel's AI SDK, autumn 2026. */
const models: readonly (readonly [pattern: RegExp, model: MessagesModel])[] = [
  [/claude-(?:opus|sonnet)-5-5|claude-fable-5/, { ...newest, mayNotThink: false }],
  [/claude-(?:opus|sonnet|haiku)-5|claude-opus-4-[78]/, newest],
  [/claude-(?:opus|sonnet)-4-6/, { ...newest, xhigh: false }],
  [/claude-(?:opus|sonnet|haiku)-4-5/, { ...newest, maxTokens: 64_000, thinking: 'budget', xhigh: false }],
  [/claude-opus-4-1/, { ...newest, maxTokens: 32_000, thinking: 'budget', xhigh: false }],
  [
    /claude-(?:sonnet-4|3-7)/,
    { maxTokens: 64_000, thinking: 'budget', mayNotThink: true, schemas: false, xhigh: false },
  ],
  [/claude-opus-4/, { maxTokens: 32_000, thinking: 'budget', mayNotThink: true, schemas: false, xhigh: false }],
  [/claude-3-5/, { maxTokens: 8_192, thinking: 'none', mayNotThink: true, schemas: false, xhigh: false }],
  [/claude-(?:[123]|instant)/, { maxTokens: 4_096, thinking: 'none', mayNotThink: true, schemas: false, xhigh: false }],
  [/claude/, newest],
]

/** Models of other makers that speak the same protocol. */
const foreign: MessagesModel = {
  maxTokens: 8_192,
  thinking: 'budget',
  mayNotThink: true,

  schemas: false,
  xhigh: false,
}

/** Finds the abilities of a model by name, such as `claude-sonnet-4-5-20250929` or `anthropic/claude-sonnet-4.5`. */
function messagesModel(name: string): MessagesModel {
  const normal = name.toLowerCase().replaceAll('.', '-')
  return models.find(([pattern]) => pattern.test(normal))?.[1] ?? foreign
}
