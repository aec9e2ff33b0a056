import type { JsonObject } from '../../base/json-value.ts'
import type { AnswerFormat, Conversation, Effort, Turn } from '../conversation.ts'
import { isObject, listOf, numberOf, objectOf, parseJsonBytes, textOf } from '../exact-json.ts'
import { untranslatable } from '../untranslatable.ts'
import { readMessagesTools } from './read-tools.ts'
import { readContent, readMessagesTurns } from './read-turns.ts'

const efforts: ReadonlySet<unknown> = new Set<Effort>(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

/** Fields whose loss would change the answer. */
const refusedFields = ['container', 'mcp_servers', 'safeguards', 'thread']

/** The largest budget of thinking for each effort. */
const budgets: readonly (readonly [tokens: number, effort: Effort])[] = [
  [4_096, 'low'],
  [16_384, 'medium'],
  [32_768, 'high'],
]

/**
 * Reads a checked request. `null` counts as absent.
 *
 * @param drop names of top-level fields that the provider refuses: they count as absent
 * @throws {UpstreamFailure} `bad_request` for content that a conversation cannot carry
 */
export function readMessagesRequest(body: Uint8Array, drop: readonly string[]): Conversation {
  const fields = readFields(body, drop)
  const { system, messages, output_config, thinking, metadata, max_tokens, ...own } = fields
  const refused = refusedFields.find((name) => own[name] !== undefined)
  if (refused !== undefined) throw untranslatable(`A request with '${refused}'`, { field: refused })
  const maxTokens = numberOf(max_tokens)
  if (maxTokens === 0) throw untranslatable("A request with 'max_tokens' of 0", { field: 'max_tokens' })
  const {
    stop_sequences,
    temperature,
    top_p,
    top_k,
    service_tier,
    tools: _tools,
    tool_choice: _choice,
    ...others
  } = own
  return {
    format: 'messages',
    turns: [...readSystem(system), ...readMessagesTurns(messages)],
    tools: readMessagesTools(fields),
    answerFormat: readAnswerFormat(objectOf(output_config)),
    modalities: [],
    effort: readEffort(objectOf(thinking), objectOf(output_config)['effort']),
    maxTokens,
    stops: listOf(stop_sequences)
      .filter((stop) => typeof stop === 'string')
      .filter((stop) => stop.trim() !== ''),
    choices: undefined,
    temperature: numberOf(temperature),
    topP: numberOf(top_p),
    topK: numberOf(top_k),
    presencePenalty: undefined,
    frequencyPenalty: undefined,
    seed: undefined,
    logprobs: undefined,
    user: textOf(objectOf(metadata)['user_id']),
    serviceTier: textOf(service_tier),
    own: others,
  }
}

function readFields(bytes: Uint8Array, drop: readonly string[]): JsonObject {
  let body: unknown
  try {
    body = parseJsonBytes(bytes)
  } catch {
    // The request was checked before, so a detailed message would not help the caller.
    throw untranslatable('This request')
  }
  return Object.fromEntries(
    Object.entries(objectOf(body)).filter(([name, value]) => value !== null && !drop.includes(name)),
  )
}

/**
 * The top-level system messages, without the line in which Claude Code attributes the request to a version: it changes
 * often, and would keep the beginning of the conversation out of caches.
 */
function readSystem(system: unknown): readonly Turn[] {
  const parts = readContent(system).filter((part) => part.kind !== 'text' || !part.text.startsWith(attribution))
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

const attribution = 'x-anthropic-billing-header:'

function readAnswerFormat({ format }: JsonObject): AnswerFormat {
  const { type, schema } = objectOf(format)
  if (type !== 'json_schema' || !isObject(schema)) return { kind: 'text' }
  // The schemas that other vendors can enforce exactly differ.
  return { kind: 'schema', schema, name: undefined, description: undefined, isStrict: false }
}

/** The effort if it is given, else that of a budget. Adaptive thinking alone leaves it to the provider. */
function readEffort({ type, budget_tokens }: JsonObject, effort: unknown): Effort | undefined {
  if (type === 'disabled') return 'none'
  if (isEffort(effort)) return effort
  const budget = numberOf(budget_tokens)
  if (type !== 'enabled' || budget === undefined) return undefined
  return budgets.find(([tokens]) => budget <= tokens)?.[1] ?? 'xhigh'
}

function isEffort(value: unknown): value is Effort {
  return efforts.has(value)
}
