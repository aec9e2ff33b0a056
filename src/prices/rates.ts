import type { BilledFacts } from '../formats/answer.ts'
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
  /** The price has one for searches, or the model is free. */
  readonly isSearchPriced: boolean
  /** Nano-USD for each use, by the name of the tool. */
  readonly tools: Readonly<Record<string, number>>
  readonly multiples: Readonly<Record<string, number>>
}

/**
 * Anthropic's prices of cache writes for 5 minutes and for an hour, as multiples of the price of input
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing).
 */
const write5Factor = 1.25
const write60Factor = 2

const picoPerUsd = 1e12
const nanoPerUsd = 1e9
const tokensPerPrice = 1e6

/** Converts a price to rates. */
export function rateCard({ above = [], flex, priority, tools = {}, multiples = {}, ...base }: Price): RateCard {
  const isFree = base.input === 0 && base.output === 0
  return {
    isSearchPriced: isFree || base.search !== undefined || base.searchRequest !== undefined,
    tools: Object.fromEntries(Object.entries(tools).map(([name, usd]) => [name, Math.ceil(usd * nanoPerUsd)])),
    multiples,
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
  imageOutput = output,
  request = 0,
  search = 0,
  searchRequest = 0,
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
    imageOut: perToken(imageOutput),
    request: picoOf(request, picoPerUsd),
    search: picoOf(search, picoPerUsd),
    searchRequest: picoOf(searchRequest, picoPerUsd),
  }
}

function perToken(usdPerMillion: number): number {
  return picoOf(usdPerMillion, picoPerUsd / tokensPerPrice)
}

/** A price above 0 never becomes 0. */
function picoOf(usd: number, pico: number): number {
  return usd > 0 ? Math.max(1, Math.round(usd * pico)) : 0
}

/** Whether text, reasoning, audio and images of an answer cost the same, in all tiers. */
export function hasOneOutput({ standard, flex = standard, priority = standard }: RateCard): boolean {
  return [standard, flex, priority].every(({ base, steps }) =>
    [base, ...steps.map(({ rates }) => rates)].every(({ output, reasoning, audioOut, imageOut }) =>
      [reasoning, audioOut, imageOut].every((rate) => rate === output),
    ),
  )
}

/**
 * The rates of an answer. A tier reprices all of its units, a multiple all tokens. Undefined: the price has no multiple
 * for the way in which the answer was served.
 */
export function ratesFor(card: RateCard, units: Units, billed: BilledFacts = {}): Rates | undefined {
  const { serviceTier, multiples } = billed
  const rates = ratesOfTier(card, units, serviceTier)
  if (multiples === undefined) return rates
  let factor = 1
  for (const name of multiples) factor *= Object.hasOwn(card.multiples, name) ? (card.multiples[name] ?? NaN) : NaN
  if (Number.isNaN(factor)) return undefined
  return multiplied(rates, factor)
}

function multiplied({ request, search, searchRequest, ...ofTokens }: Rates, factor: number): Rates {
  const times = (rate: number) => Math.round(rate * factor)
  return {
    input: times(ofTokens.input),
    cached: times(ofTokens.cached),
    write5: times(ofTokens.write5),
    write60: times(ofTokens.write60),
    output: times(ofTokens.output),
    reasoning: times(ofTokens.reasoning),
    audioIn: times(ofTokens.audioIn),
    audioOut: times(ofTokens.audioOut),
    imageIn: times(ofTokens.imageIn),
    imageOut: times(ofTokens.imageOut),
    request,
    search,
    searchRequest,
  }
}

function ratesOfTier({ standard, flex, priority }: RateCard, units: Units, serviceTier: string | undefined): Rates {
  const { base, steps } =
    (serviceTier === 'flex' ? flex : serviceTier === 'priority' ? priority : undefined) ?? standard
  if (steps.length === 0) return base
  const { input, cached, write5, write60, audioIn, imageIn } = units
  const prompt = input + cached + write5 + write60 + audioIn + imageIn
  return steps.find(({ tokens }) => prompt > tokens)?.rates ?? base
}

/** The fees in nano-USD of tools other than searches. Undefined: one of them has no price. */
export function toolFees({ tools: fees, isSearchPriced }: RateCard, billed: BilledFacts = {}): number | undefined {
  const { tools, searches = 0 } = billed
  if (searches > 0 && !isSearchPriced) return undefined
  if (tools === undefined) return 0
  let fee = 0
  for (const [name, count] of Object.entries(tools))
    fee += count * (Object.hasOwn(fees, name) ? (fees[name] ?? NaN) : NaN)
  return Number.isNaN(fee) ? undefined : fee
}
