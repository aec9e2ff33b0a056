import type { JsonObject } from '../base/json-value.ts'
import { numberIn } from '../bytes/fill.ts'
import type { BilledFacts, TokenCounts } from './answer.ts'
import { numberOf, objectOf } from './exact-json.ts'
import { countsByTotal, reportedCost, type Usage } from './usage.ts'

/** A count: an integer of 0 or more, also in a string; undefined for other values. */
export function countIn(value: unknown): number | undefined {
  const count = typeof value === 'string' ? numberIn(value) : numberOf(value)
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

/** The counts of a prompt and an answer, by their total: see {@link countsByTotal}. @param beside default: none */
export function prompted(
  prompt: number | undefined,
  completion: number | undefined,
  total: number | undefined,
  beside?: Pick<TokenCounts, 'cached' | 'cacheWrite' | 'reasoning'>,
): Pick<TokenCounts, 'prompt' | 'completion' | 'total' | 'lacks'> {
  const [promptOrRest, answerOrRest] = countsByTotal(prompt, completion, total, beside)
  return {
    prompt: promptOrRest ?? 0,
    completion: answerOrRest ?? 0,
    total,
    lacks: lackOf(promptOrRest, answerOrRest),
  }
}

/** Missing counts of a prompt and an answer. */
export function lackOf(prompt: number | undefined, completion: number | undefined): TokenCounts['lacks'] {
  if (prompt === undefined) return completion === undefined ? 'both' : 'prompt'
  return completion === undefined ? 'completion' : undefined
}

/** The counts of a usage. */
export function countsOfUsage(usage: Usage): TokenCounts {
  const { cachedTokens: cached, cacheWriteTokens: cacheWrite, cacheWriteHourTokens: cacheWriteHour, billed } = usage
  const counts = prompted(usage.promptTokens, usage.completionTokens, usage.totalTokens)
  return { ...counts, cached, cacheWrite, cacheWriteHour, reasoning: usage.reasoningTokens, billed }
}

/**
 * Reads a usage of chat completions, Responses or a relayed endpoint, whose names differ little; undefined without any
 * count or cost.
 *
 * @param serviceTier the tier that the answer names
 */
export function countsIn(usage: JsonObject, serviceTier?: unknown): TokenCounts | undefined {
  const prompt = countIn(usage['prompt_tokens'] ?? usage['input_tokens'])
  const completion = countIn(usage['completion_tokens'] ?? usage['output_tokens'])
  const total = countIn(usage['total_tokens'])
  const ofPrompt = objectOf(
    usage['prompt_tokens_details'] ?? usage['input_tokens_details'] ?? usage['input_token_details'],
  )
  const ofAnswer = objectOf(usage['completion_tokens_details'] ?? usage['output_tokens_details'])
  const billed = billedOf(usage, ofPrompt, ofAnswer, serviceTier)
  const known = prompt ?? completion ?? total ?? billed?.cost
  if (known === undefined) return undefined
  const beside = {
    cached: countIn(ofPrompt['cached_tokens']) ?? cacheReads(usage),
    cacheWrite: countIn(ofPrompt['cache_write_tokens']) ?? countIn(usage['cache_creation_input_tokens']),
    reasoning: countIn(ofAnswer['reasoning_tokens']),
  }
  return { ...prompted(prompt, completion, total, beside), ...beside, billed }
}

/** Names of DeepSeek, Moonshot, and of gateways. */
function cacheReads(usage: JsonObject): number | undefined {
  return countIn(usage['prompt_cache_hit_tokens'] ?? usage['cached_tokens'] ?? usage['cache_read_input_tokens'])
}

function billedOf(
  usage: JsonObject,
  ofPrompt: JsonObject,
  ofAnswer: JsonObject,
  serviceTier: unknown,
): BilledFacts | undefined {
  return billedFacts({
    audioIn: countIn(ofPrompt['audio_tokens']),
    imageIn: countIn(ofPrompt['image_tokens']),
    audioOut: countIn(ofAnswer['audio_tokens']),
    imageOut: countIn(ofAnswer['image_tokens']),
    searches: countIn(objectOf(usage['server_tool_use'])['web_search_requests'] ?? usage['num_search_queries']),
    serviceTier: pricedTier(serviceTier),
    cost: reportedCost({
      cost: amountIn(usage['cost']) ?? amountIn(objectOf(usage['cost'])['total_cost']),
      upstreamCost: amountIn(objectOf(usage['cost_details'])['upstream_inference_cost']),
      isByok: usage['is_byok'] === true,
      costTicks: amountIn(usage['cost_in_usd_ticks']),
    }),
  })
}

/** The counts with further facts of the bill. */
export function withFacts(counts: TokenCounts, facts: BilledFacts | undefined): TokenCounts {
  return facts === undefined ? counts : { ...counts, billed: { ...counts.billed, ...facts } }
}

/** A service tier that has prices of its own. */
export function pricedTier(value: unknown): string | undefined {
  return value === 'flex' || value === 'priority' ? value : undefined
}

/** The facts; undefined if all are 0 or missing. */
export function billedFacts(facts: BilledFacts): BilledFacts | undefined {
  return Object.values(facts).some(Boolean) ? facts : undefined
}

function amountIn(value: unknown): number | undefined {
  const amount = numberOf(value)
  return amount !== undefined && amount >= 0 && amount < Infinity ? amount : undefined
}
