import type { Usage } from '../wire/usage.ts'

/** USD per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  /** Of prompt tokens that the provider had in its cache. Default: `input`. */
  readonly cachedInput?: number
}

/**
 * What an answer cost, in USD. `undefined` where the price is not known, or the provider did not count both prompt and
 * completion.
 */
export function costOf(usage: Usage | undefined, price: Price | undefined): number | undefined {
  const prompt = countOf(usage?.promptTokens)
  const completion = countOf(usage?.completionTokens)
  if (price === undefined || prompt === undefined || completion === undefined) return undefined
  const cached = Math.min(countOf(usage?.cachedTokens) ?? 0, prompt)
  return (
    ((prompt - cached) * price.input + cached * (price.cachedInput ?? price.input) + completion * price.output) /
    1_000_000
  )
}

/** A count as a provider reports it; `undefined` where it is none. */
export function countOf(tokens: number | undefined): number | undefined {
  return tokens !== undefined && tokens >= 0 && Number.isSafeInteger(tokens) ? tokens : undefined
}
