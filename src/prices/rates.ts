import type { Price, UnitPrices } from '../formats/model.ts'
import type { Units } from './units.ts'

/** Price of each unit in pico-USD (10⁻¹² USD), whole numbers. */
export type Rates = Readonly<Record<keyof Units, number>>

/** The prices of one service tier. */
interface Tariff {
  readonly base: Rates
  /** For prompts of more than these tokens, the highest first. */
  readonly steps: readonly { readonly tokens: number; readonly rates: Rates }[]
}

/** The prices of a model, ready for multiplication. */
export interface RateCard {
  readonly standard: Tariff
  readonly flex?: Tariff
  readonly priority?: Tariff
}

/**
 * Anthropic's prices of cache writes for 5 minutes and for an hour, as multiples of the price of input
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing).
 */
const write5Factor = 1.25
const write60Factor = 2

const picoPerUsd = 1e12
const tokensPerPrice = 1e6

/** Converts a price to rates. */
export function rateCard({ above = [], flex, priority, ...base }: Price): RateCard {
  return {
    standard: tariffOf(base, above),
    ...(flex === undefined ? {} : { flex: tariffOf({ ...base, ...flex }, flex.above ?? []) }),
    ...(priority === undefined ? {} : { priority: tariffOf({ ...base, ...priority }, priority.above ?? []) }),
  }
}

function tariffOf(base: UnitPrices, above: NonNullable<Price['above']>): Tariff {
  return {
    base: ratesOf(base),
    steps: above
      .map(({ tokens, ...changed }) => ({ tokens, rates: ratesOf({ ...base, ...changed }) }))
      .toSorted((one, other) => other.tokens - one.tokens),
  }
}

function ratesOf({
  input,
  output,
  cachedInput = input,
  cacheWrite = input * write5Factor,
  cacheWriteHour = input * write60Factor,
  reasoning = output,
  audioInput = input,
  audioOutput = output,
  imageInput = input,
  request = 0,
  search = 0,
}: UnitPrices): Rates {
  return {
    input: perToken(input),
    cached: perToken(cachedInput),
    write5: perToken(cacheWrite),
    write60: perToken(cacheWriteHour),
    output: perToken(output),
    reasoning: perToken(reasoning),
    audioIn: perToken(audioInput),
    audioOut: perToken(audioOutput),
    imageIn: perToken(imageInput),
    request: picoOf(request, picoPerUsd),
    search: picoOf(search, picoPerUsd),
  }
}

function perToken(usdPerMillion: number): number {
  return picoOf(usdPerMillion, picoPerUsd / tokensPerPrice)
}

/** A price above 0 never becomes 0. */
function picoOf(usd: number, pico: number): number {
  return usd > 0 ? Math.max(1, Math.round(usd * pico)) : 0
}

/** Whether reasoning costs what the rest of an answer costs, in all tiers. */
export function isReasoningOutput({ standard, flex = standard, priority = standard }: RateCard): boolean {
  return [standard, flex, priority].every(({ base, steps }) =>
    [base, ...steps.map(({ rates }) => rates)].every(({ output, reasoning }) => output === reasoning),
  )
}

/** The rates of an answer. A tier reprices all of its units. @param serviceTier as the answer names it */
export function ratesFor({ standard, flex, priority }: RateCard, units: Units, serviceTier: string | undefined): Rates {
  const { base, steps } =
    (serviceTier === 'flex' ? flex : serviceTier === 'priority' ? priority : undefined) ?? standard
  if (steps.length === 0) return base
  const { input, cached, write5, write60, audioIn, imageIn } = units
  const prompt = input + cached + write5 + write60 + audioIn + imageIn
  return steps.find(({ tokens }) => prompt > tokens)?.rates ?? base
}
