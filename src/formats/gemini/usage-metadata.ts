import type { JsonObject } from '../../base/json-value.ts'
import type { BilledFacts, TokenCounts } from '../answer.ts'
import { isObject, objectsOf, textOf } from '../exact-json.ts'
import { billedFacts, countIn, pricedTier, prompted } from '../token-counts.ts'

/** Adds newer usage fields to the older ones. Counts of a stream are cumulative, so the last ones count. */
export function addUsageMetadata(known: JsonObject | undefined, usage: unknown): JsonObject | undefined {
  if (!isObject(usage)) return known
  const { promptTokenCount, totalTokenCount } = usage
  if ((countIn(promptTokenCount) ?? countIn(totalTokenCount)) === undefined) return known
  return { ...known, ...usage }
}

/** Reads `usageMetadata`. */
export function readUsageMetadata(usage: JsonObject): TokenCounts {
  const counts = countNames.map((name) => countIn(usage[name]))
  const modalities = modalitiesOf(usage['promptTokensDetails'], usage['candidatesTokensDetails'])
  return countsOfMetadata(counts, billedFacts({ ...modalities, serviceTier: metadataTier(usage['serviceTier']) }))
}

/** Names of the counts of `usageMetadata`. */
export const countNames = [
  'promptTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'totalTokenCount',
  'cachedContentTokenCount',
  'toolUsePromptTokenCount',
] as const

/**
 * Converts counts in the order of {@link countNames}. Gemini counts thoughts apart from the candidates, and prompts of
 * its tools apart from the prompt; other formats include them. It leaves out counts of 0.
 */
export function countsOfMetadata(
  [prompt, candidates = 0, reasoning, total, cached, toolPrompt = 0]: readonly (number | undefined)[],
  billed: BilledFacts | undefined,
): TokenCounts {
  const whole = prompt === undefined ? undefined : prompt + toolPrompt
  const counts = prompted(whole, candidates + (reasoning ?? 0), total, { cached, reasoning })
  const { lacks, completion } = counts
  // One literal: Gemini counts in each event, and copies of objects cost a multiple of it.
  return { prompt: counts.prompt, completion, total, lacks, cached, reasoning, billed }
}

/** The service tier, which newer versions write as `SERVICE_TIER_FLEX`, too. */
export function metadataTier(value: unknown): string | undefined {
  return pricedTier(textOf(value)?.toLowerCase().replace('service_tier_', ''))
}

/** The tokens of audio and images in lists of `{modality, tokenCount}`. */
export function modalitiesOf(prompt: unknown, answer: unknown): BilledFacts {
  return {
    audioIn: tokensOf(prompt, 'AUDIO'),
    imageIn: tokensOf(prompt, 'IMAGE'),
    audioOut: tokensOf(answer, 'AUDIO'),
    imageOut: tokensOf(answer, 'IMAGE'),
  }
}

function tokensOf(details: unknown, wanted: string): number | undefined {
  const detail = objectsOf(details).find(({ modality }) => modality === wanted)
  return detail && countIn(detail['tokenCount'])
}

/** Writes `usageMetadata`. */
export function writeUsageMetadata({ prompt, completion, total, cached, reasoning }: TokenCounts): JsonObject {
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: Math.max(0, completion - (reasoning ?? 0)),
    totalTokenCount: total ?? prompt + completion,
    ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
    ...(reasoning === undefined ? {} : { thoughtsTokenCount: reasoning }),
  }
}
