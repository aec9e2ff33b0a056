import type { JsonObject } from '../../base/json-value.ts'
import type { TokenCounts } from '../answer.ts'
import { isObject, numberOf } from '../exact-json.ts'

/** Adds newer usage fields to the older ones. Counts of a stream are cumulative, so the last ones count. */
export function addUsageMetadata(known: JsonObject | undefined, usage: unknown): JsonObject | undefined {
  if (!isObject(usage) || numberOf(usage['promptTokenCount'] ?? usage['totalTokenCount']) === undefined) return known
  return { ...known, ...usage }
}

/** Reads `usageMetadata`. Gemini counts thoughts apart from the candidates; other formats include them. */
export function readUsageMetadata(usage: JsonObject): TokenCounts {
  const reasoning = numberOf(usage['thoughtsTokenCount'])
  return {
    prompt: numberOf(usage['promptTokenCount']) ?? 0,
    completion: (numberOf(usage['candidatesTokenCount']) ?? 0) + (reasoning ?? 0),
    total: numberOf(usage['totalTokenCount']),
    cached: numberOf(usage['cachedContentTokenCount']),
    reasoning,
  }
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
