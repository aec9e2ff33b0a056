import type { Price } from '../formats/model.ts'
import type { Usage } from '../formats/usage.ts'

/**
 * Surcharges for cache writes that last 5 minutes and an hour, as shares of the input price
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing).
 */
const minutesSurcharge = 0.25
const hourSurcharge = 1

/**
 * The cost of an answer, in USD. `undefined` when the price is not known, or the provider did not report both prompt
 * and completion tokens.
 */
export function costOf(usage: Usage | undefined, price: Price | undefined): number | undefined {
  const prompt = countOf(usage?.promptTokens)
  const completion = countOf(usage?.completionTokens)
  if (price === undefined || prompt === undefined || completion === undefined) return undefined
  const cached = partOf(prompt, usage?.cachedTokens)
  const written = partOf(prompt - cached, usage?.cacheWriteTokens)
  const writtenHour = partOf(written, usage?.cacheWriteHourTokens)
  const surcharged = (written - writtenHour) * minutesSurcharge + writtenHour * hourSurcharge
  return (
    ((prompt - cached + surcharged) * price.input +
      cached * (price.cachedInput ?? price.input) +
      completion * price.output) /
    1_000_000
  )
}

/** A reported count of tokens that are a part of `tokens`; 0 when missing. */
function partOf(tokens: number, count: number | undefined): number {
  return Math.min(countOf(count) ?? 0, tokens)
}

/** A count of tokens reported by a provider; `undefined` when missing or not a count. */
export function countOf(tokens: number | undefined): number | undefined {
  return tokens !== undefined && tokens >= 0 && Number.isSafeInteger(tokens) ? tokens : undefined
}
