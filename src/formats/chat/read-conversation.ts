import type { JsonObject } from '../../base/json-value.ts'
import type { AnswerFormat, Conversation, Effort } from '../conversation.ts'
import { isObject, listOf, numberOf, objectOf, parseJsonBytes, textOf } from '../exact-json.ts'
import { untranslatable } from '../untranslatable.ts'
import { readChatTools } from './read-tools.ts'
import { readChatTurns } from './read-turns.ts'

const efforts: ReadonlySet<unknown> = new Set<Effort>(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

/**
 * Reads a checked request (docs/api.md). `null` counts as absent.
 *
 * @param drop names of top-level fields that the provider refuses: they count as absent
 * @throws {UpstreamFailure} `bad_request` for content that a conversation cannot carry
 */
export function readChatRequest(body: Uint8Array, drop: readonly string[]): Conversation {
  const fields = readFields(body, drop)
  const {
    messages,
    tools,
    functions,
    tool_choice,
    function_call,
    parallel_tool_calls,
    response_format,
    modalities,
    reasoning_effort,
    enable_thinking,
    max_completion_tokens,
    max_tokens,
    stop,
    n,
    temperature,
    top_p,
    top_k,
    presence_penalty,
    frequency_penalty,
    seed,
    logprobs,
    top_logprobs,
    service_tier,
    ...own
  } = fields
  const { metadata, user } = own
  // As OpenRouter has it.
  const { effort, enabled } = objectOf(own['reasoning'])
  return {
    format: 'chat',
    turns: readChatTurns(messages),
    tools: readChatTools(fields),
    answerFormat: readAnswerFormat(objectOf(response_format)),
    modalities: listOf(modalities).filter((modality) => typeof modality === 'string'),
    effort: readEffort(reasoning_effort ?? effort, enable_thinking ?? enabled),
    maxTokens: readLimit(max_completion_tokens) ?? readLimit(max_tokens),
    stops: readStops(stop),
    choices: numberOf(n),
    temperature: numberOf(temperature),
    topP: numberOf(top_p),
    topK: numberOf(top_k),
    presencePenalty: numberOf(presence_penalty),
    frequencyPenalty: numberOf(frequency_penalty),
    seed: numberOf(seed),
    logprobs: logprobs === true ? { alternatives: numberOf(top_logprobs) } : undefined,
    user: textOf(objectOf(metadata)['user_id']) ?? textOf(user),
    serviceTier: textOf(service_tier),
    own,
  }
}

function readFields(bytes: Uint8Array, drop: readonly string[]): JsonObject {
  const body = parseBody(bytes)
  if (!isObject(body)) throw untranslatable('A request other than a JSON object')
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null && !drop.includes(name)))
}

function parseBody(bytes: Uint8Array): unknown {
  try {
    return parseJsonBytes(bytes)
  } catch {
    // The request was checked before, so a detailed message would not help the caller.
    throw untranslatable('This request')
  }
}

/** `stop` as a list, without empty ones. */
function readStops(stop: unknown): readonly string[] {
  const stops = typeof stop === 'string' ? [stop] : listOf(stop)
  return stops.filter((value) => typeof value === 'string').filter((value) => value !== '')
}

/** A limit of tokens. -1 stands for none in some clients. */
function readLimit(value: unknown): number | undefined {
  const limit = numberOf(value)
  return limit === undefined || limit < 0 ? undefined : limit
}

/** `reasoning_effort`, else `medium` or `none` by `enable_thinking`, which may stand in its place. */
function readEffort(effort: unknown, isEnabled: unknown): Effort | undefined {
  if (isEffort(effort)) return effort
  const isOn = typeof effort === 'boolean' ? effort : isEnabled
  if (isOn === true) return 'medium'
  return isOn === false ? 'none' : undefined
}

function isEffort(value: unknown): value is Effort {
  return efforts.has(value)
}

function readAnswerFormat({ type, json_schema }: JsonObject): AnswerFormat {
  if (type === 'json_object') return { kind: 'json' }
  if (type === 'text' || type === undefined) return { kind: 'text' }
  if (type !== 'json_schema') throw untranslatable(`An answer format of the type '${textOf(type)}'`)
  const { schema, name, description, strict } = objectOf(json_schema)
  if (!isObject(schema)) return { kind: 'json' }
  return { kind: 'schema', schema, name: textOf(name), description: textOf(description), isStrict: strict === true }
}
