import type { JsonObject } from '../../base/json-value.ts'
import type { BilledFacts, FinishEvent, FinishReason, TokenCounts } from '../answer.ts'
import { isObject, objectOf } from '../exact-json.ts'
import { billedFacts, countIn, pricedTier, prompted } from '../token-counts.ts'

/** Adds newer usage fields to the older ones. Counts of a stream are cumulative, so the last ones count. */
export function addUsage(known: JsonObject | undefined, usage: unknown): JsonObject | undefined {
  if (!isObject(usage)) return known
  return { ...known, ...Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null)) }
}

/** Reads usage. Anthropic counts cached tokens apart from `input_tokens`; other formats include them. */
export function countsOf(usage: JsonObject): TokenCounts {
  const input = countIn(usage['input_tokens'])
  const cached = countIn(usage['cache_read_input_tokens'])
  const written = objectOf(usage['cache_creation'])
  const cacheWriteHour = countIn(written['ephemeral_1h_input_tokens'])
  const cacheWriteMinutes = countIn(written['ephemeral_5m_input_tokens'])
  const cacheWrite = countIn(usage['cache_creation_input_tokens']) ?? sumOf(cacheWriteMinutes, cacheWriteHour)
  const serviceTier = pricedTier(usage['service_tier'])
  const { lacks, completion } = prompted(input, countIn(usage['output_tokens']), undefined)
  return {
    prompt: (input ?? 0) + (cached ?? 0) + (cacheWrite ?? 0),
    completion,
    lacks,
    cached,
    cacheWrite,
    cacheWriteHour,
    reasoning: countIn(objectOf(usage['output_tokens_details'])['thinking_tokens']),
    billed: billedFacts({ ...toolsOf(usage['server_tool_use']), serviceTier, multiples: multiplesOf(usage) }),
  }
}

const requestsEnding = /_requests$/
/** Tools whose use costs nothing beside its tokens (https://platform.claude.com/docs/en/about-claude/pricing). */
const freeTools: ReadonlySet<string> = new Set(['web_fetch'])

/** The uses of tools at Anthropic: members such as `web_search_requests`. */
function toolsOf(uses: unknown): Pick<BilledFacts, 'searches' | 'tools'> {
  if (!isObject(uses)) return {}
  const { web_search_requests: searches, ...others } = uses
  const tools = Object.entries(others).flatMap(([name, uses]) => {
    const tool = name.replace(requestsEnding, '')
    const count = freeTools.has(tool) ? 0 : (countIn(uses) ?? 0)
    return count === 0 ? [] : [[tool, count] as const]
  })
  return { searches: countIn(searches), tools: tools.length === 0 ? undefined : Object.fromEntries(tools) }
}

/** Ways of serving at the standard price. */
const standardWays: ReadonlySet<unknown> = new Set(['standard', 'global', 'not_available', '', undefined])

/** The speed and the place that served the request, where they are not the usual ones. */
function multiplesOf({ speed, inference_geo }: JsonObject): readonly string[] | undefined {
  if (speed === undefined && inference_geo === undefined) return undefined
  const ways = [speed, inference_geo].flatMap((way) => (standardWays.has(way) ? [] : [String(way)]))
  return ways.length === 0 ? undefined : ways
}

/** Writes usage. */
export function writeMessagesUsage({ prompt, completion, cached, cacheWrite, reasoning }: TokenCounts): JsonObject {
  return {
    input_tokens: Math.max(0, prompt - (cached ?? 0) - (cacheWrite ?? 0)),
    ...(cacheWrite === undefined ? {} : { cache_creation_input_tokens: cacheWrite }),
    ...(cached === undefined ? {} : { cache_read_input_tokens: cached }),
    output_tokens: completion,
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
  }
}

function sumOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0)
}

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** The reason that a `stop_reason` stands for. */
export function readStopReason(stopReason: string | undefined): FinishReason {
  return stopReason === undefined ? 'stop' : (finishReasons.get(stopReason) ?? 'other')
}

/**
 * The `stop_reason` of an answer. An answer with a call asks for its result, also if the upstream says otherwise. A
 * reason that only the upstream knows is kept: the answer may be incomplete, which `end_turn` would hide.
 */
export function writeStopReason(
  { reason, raw, stopSequence }: Pick<FinishEvent, 'reason' | 'raw' | 'stopSequence'>,
  hasCalls: boolean,
): string {
  if (reason === 'length') return raw === 'model_context_window_exceeded' ? raw : 'max_tokens'
  if (reason === 'content_filter') return 'refusal'
  if (hasCalls) return 'tool_use'
  if (reason === 'other') return raw ?? 'end_turn'
  if (stopSequence !== undefined) return 'stop_sequence'
  return raw === 'stop_sequence' || raw === 'pause_turn' ? raw : 'end_turn'
}

/** The reason of an answer that may say that it is over, although it asks for the results of calls. */
export function soundReason(stopReason: string | undefined, hasCalls: boolean): string | undefined {
  return hasCalls && stopReason === 'end_turn' ? 'tool_use' : stopReason
}
