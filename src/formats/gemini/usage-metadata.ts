import type { JsonObject } from '../../base/json-value.ts'
import type { BilledFacts, TokenCounts } from '../answer.ts'
import { isObject, objectsOf } from '../exact-json.ts'
import { billedFacts, countIn, prompted } from '../token-counts.ts'

/** Adds newer usage fields to the older ones. Counts of a stream are cumulative, so the last ones count. */
export function addUsageMetadata(known: JsonObject | undefined, usage: unknown): JsonObject | undefined {
  if (!isObject(usage)) return known
  const { promptTokenCount, totalTokenCount } = usage
  if ((countIn(promptTokenCount) ?? countIn(totalTokenCount)) === undefined) return known
  return { ...known, ...usage }
}

/** Reads `usageMetadata`. Gemini counts thoughts apart from the candidates; other formats include them. */
export function readUsageMetadata(usage: JsonObject): TokenCounts {
  const reasoning = countIn(usage['thoughtsTokenCount'])
  // Counts of 0 are left out.
  const answer = (countIn(usage['candidatesTokenCount']) ?? 0) + (reasoning ?? 0)
  return {
    ...prompted(countIn(usage['promptTokenCount']), answer, countIn(usage['totalTokenCount'])),
    cached: countIn(usage['cachedContentTokenCount']),
    reasoning,
    billed: billedFacts({
      ...modalitiesOf(usage['promptTokensDetails'], usage['candidatesTokensDetails']),
      toolPrompt: countIn(usage['toolUsePromptTokenCount']),
    }),
  }
}

/** The tokens of audio and images in lists of `{modality, tokenCount}`. */
export function modalitiesOf(prompt: unknown, answer: unknown): BilledFacts {
  return {
    audioIn: tokensOf(prompt, 'AUDIO'),
    imageIn: tokensOf(prompt, 'IMAGE'),
    audioOut: tokensOf(answer, 'AUDIO'),
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
