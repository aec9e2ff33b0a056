import type { TargetProfile } from '../profiles/profile.ts'

/** A model as a provider offers it. */
export interface OfferedModel {
  /** Name that clients use. */
  readonly name: string
  /** The provider's name for the model. */
  readonly upstream: string
  readonly aliases: readonly string[]
  /** The aliases under which the model gives the same embeddings as the model of that name. */
  readonly embeddingAliases?: readonly string[]
  /** Context size in tokens. */
  readonly context?: number
  /** Maximum of output tokens. */
  readonly maxOutput?: number
  /** Modalities such as `text`, `image`. */
  readonly input?: readonly string[]
  readonly price?: Price
  /** The owner's fields of its profile, which hold before those of its provider. */
  readonly profile?: Partial<TargetProfile>
  /** The model is from the provider's own list, not from the configuration. */
  readonly isLearned?: true
}

/** One model and the providers that offer it, in try-order. */
export interface ListedModel {
  readonly name: string
  readonly offers: readonly [ListedOffer, ...ListedOffer[]]
}

/** A model as one provider describes it. */
export interface ListedOffer {
  /** Id of the provider. */
  readonly provider: string
  readonly model: OfferedModel
}

/** The facts of a model that its owner or its provider states, named as in the API. Unknown ones are left out. */
export function modelFacts({ context, maxOutput, price }: OfferedModel): Readonly<Record<string, unknown>> {
  return {
    ...(context === undefined ? {} : { context }),
    ...(maxOutput === undefined ? {} : { max_output: maxOutput }),
    ...(price === undefined ? {} : { price: priceFacts(price) }),
  }
}

/** A price as in files and in the API. */
export function priceFacts({
  above,
  flex,
  priority,
  tools,
  multiples,
  ...prices
}: Price): Readonly<Record<string, unknown>> {
  return {
    ...pricesByName(prices),
    ...(above === undefined ? {} : { above: above.map(stepFacts) }),
    ...(flex === undefined ? {} : { flex: tierFacts(flex) }),
    ...(priority === undefined ? {} : { priority: tierFacts(priority) }),
    ...(tools === undefined ? {} : { tools }),
    ...(multiples === undefined ? {} : { multiples }),
  }
}

function tierFacts({ above, ...prices }: TierPrice): Readonly<Record<string, unknown>> {
  return { ...pricesByName(prices), ...(above === undefined ? {} : { above: above.map(stepFacts) }) }
}

function stepFacts({ tokens, ...prices }: PriceStep): Readonly<Record<string, unknown>> {
  return { tokens, ...pricesByName(prices) }
}

function pricesByName(prices: Partial<UnitPrices>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    unitPriceNames.flatMap(([name, key]) => (prices[key] === undefined ? [] : [[name, prices[key]]])),
  )
}

/** USD per million tokens; those of {@link pricedEach}: USD for each. */
export interface UnitPrices {
  readonly input: number
  readonly output: number
  /** Prompt tokens that the provider had in its cache. Default: `input`. */
  readonly cachedInput?: number
  /** Prompt tokens that the provider wrote to its cache. Default: 1.25 × `input`. */
  readonly cacheWrite?: number
  /** Those that it keeps for an hour. Default: 2 × `input`. */
  readonly cacheWriteHour?: number
  /** Default: `output`. */
  readonly reasoning?: number
  /** Default: `input`. */
  readonly audioInput?: number
  /** Default: `output`. */
  readonly audioOutput?: number
  /** Default: `input`. */
  readonly imageInput?: number
  /** Default: `output`. */
  readonly imageOutput?: number
  /** Each answered request. Default: 0. */
  readonly request?: number
  /** Each search that the provider made. */
  readonly search?: number
  /** Each answer for which the provider searched, however often. */
  readonly searchRequest?: number
}

/** The names of prices in files and in the API, and here. */
export const unitPriceNames = [
  ['input', 'input'],
  ['output', 'output'],
  ['cached_input', 'cachedInput'],
  ['cache_write', 'cacheWrite'],
  ['cache_write_1h', 'cacheWriteHour'],
  ['reasoning', 'reasoning'],
  ['audio_input', 'audioInput'],
  ['audio_output', 'audioOutput'],
  ['image_input', 'imageInput'],
  ['image_output', 'imageOutput'],
  ['request', 'request'],
  ['search', 'search'],
  ['search_request', 'searchRequest'],
] as const satisfies readonly (readonly [string, keyof UnitPrices])[]

/** Names of prices in USD for each, not per million tokens. */
export const pricedEach: ReadonlySet<string> = new Set(['request', 'search', 'search_request'])

/** Other prices for requests with a prompt of more than these tokens. Prices that are left out stay the same. */
export interface PriceStep extends Partial<UnitPrices> {
  readonly tokens: number
}

/** Other prices of a service tier. Prices that are left out stay the same, but for `above`. */
export interface TierPrice extends Partial<UnitPrices> {
  readonly above?: readonly PriceStep[]
}

/** The price of a model. */
export interface Price extends UnitPrices {
  readonly above?: readonly PriceStep[]
  /** For answers that name the service tier `flex`. */
  readonly flex?: TierPrice
  /** For answers that name the service tier `priority`. */
  readonly priority?: TierPrice
  /** USD for each use of another tool of the provider, by its name. */
  readonly tools?: Readonly<Record<string, number>>
  /** Factors of all prices of tokens, by the speed or the place that an answer names, such as `fast` and `us`. */
  readonly multiples?: Readonly<Record<string, number>>
}

/**
 * Where a price is from: `price` in providers.json, the provider's own report, its reports for other answers,
 * prices.json, the fetched list, the list that comes with svc, or the catalogue.
 */
export type PriceSource = 'config' | 'reported' | 'reports' | 'prices.json' | 'fetched' | 'list' | 'catalogue'
