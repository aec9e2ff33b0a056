import type { ProviderConfig } from '../config/config.ts'
import type { OfferedModel } from '../formats/model.ts'
import type { Usage } from '../formats/usage.ts'
import type { ModelList } from '../gateway/provider.ts'
import { costFunction, type Cost, type CostOf, type SourcedPrice } from '../prices/cost.ts'
import type { PriceBook } from '../prices/price-book.ts'

/** Models that have answered instead of one. */
const othersMax = 32
const dateAtEnd = /[-@]20\d\d-?[01]\d-?[0-3]\d$/

/** The prices of a provider. They follow changes of prices.json. */
export interface ProviderPricing {
  /** What answers of a model cost. @param model the provider's name for it */
  costOf(model: string, cacheWrite?: CostOf['cacheWrite']): CostOf
  /** The list with the prices of its models. */
  priced(models: ModelList): ModelList
}

interface ModelPrices {
  /** Changes with the prices. */
  readonly version: () => number | undefined
  readonly costOf: () => CostOf
  /** `undefined`: the price of the asked model holds. */
  readonly costOfServed: (served: string) => CostOf | undefined
}

/** What answers to requests for one model cost, also where another model has answered. */
class ModelCosts {
  readonly #prices: ModelPrices
  #version: number | undefined
  #current: CostOf
  /** By the model that answered. */
  readonly #served = new Map<string, CostOf | undefined>()

  constructor(prices: ModelPrices) {
    this.#prices = prices
    this.#version = prices.version()
    this.#current = prices.costOf()
  }

  /** By the prices of now. */
  get current(): CostOf {
    const version = this.#prices.version()
    if (version !== this.#version) {
      this.#version = version
      this.#current = this.#prices.costOf()
      this.#served.clear()
    }
    return this.#current
  }

  of(usage: Usage | undefined): Cost | undefined {
    const { current } = this
    const served = usage?.billed?.model
    const costOf = served === undefined ? undefined : this.#ofServed(served)
    if (costOf === undefined) return current(usage)
    const cost = costOf(usage)
    return cost === undefined || cost.source === 'reported' ? cost : { ...cost, isOfServed: true }
  }

  #ofServed(served: string): CostOf | undefined {
    if (this.#served.has(served)) return this.#served.get(served)
    if (this.#served.size >= othersMax) this.#served.clear()
    const costOf = this.#prices.costOfServed(served)
    this.#served.set(served, costOf)
    return costOf
  }
}

/**
 * Finds prices in the configuration, then in prices.json, then in the list that comes with svc, then in the catalogue
 * (docs/configuration.md#prices).
 */
export function providerPricing(config: ProviderConfig, prices: PriceBook | undefined): ProviderPricing {
  const { quirks, models: configured } = config

  function priceOf(model: string): SourcedPrice | undefined {
    const own = configured === '*' ? undefined : configured.find(({ upstream }) => upstream === model)?.price
    const configuredPrice = own ?? config.price
    if (configuredPrice !== undefined) return { price: configuredPrice, source: 'config' }
    const listed = prices?.find(config, model)
    if (listed !== undefined) return listed
    return quirks.isFree ? { price: { input: 0, output: 0 }, source: 'catalogue' } : undefined
  }

  function withPrice(model: OfferedModel): OfferedModel {
    const { price } = priceOf(model.upstream) ?? {}
    return price === undefined ? model : { ...model, price }
  }

  /**
   * The price of the model that answered, where another one was asked for. A price of the owner holds for all answers
   * of its model, unless the owner has one for the other model, too.
   */
  function priceOfServed(asked: string, served: string): SourcedPrice | undefined {
    const names = [served, served.replace(dateAtEnd, '')]
    const own = configured === '*' ? undefined : configured.find(({ upstream }) => names.includes(upstream))?.price
    if (own !== undefined) return { price: own, source: 'config' }
    if (priceOf(asked)?.source === 'config') return undefined
    for (const name of names) {
      const found = prices?.find(config, name)
      if (found !== undefined) return found
    }
    return undefined
  }

  return {
    costOf(model, cacheWrite) {
      const costs = new ModelCosts({
        version: () => prices?.version,
        costOf: () => costFunction(priceOf(model), quirks.reportsCost),
        costOfServed(served) {
          const price = priceOfServed(model, served)
          return price && costFunction(price, quirks.reportsCost)
        },
      })
      const following: CostOf = Object.assign((usage: Usage | undefined) => costs.of(usage), { cacheWrite })
      return Object.defineProperty(following, 'hasOneOutput', { get: () => costs.current.hasOneOutput })
    },
    priced(models) {
      let known: { readonly version: number; readonly list: readonly OfferedModel[] | undefined } | undefined
      const versionNow = (): number => models.version + (prices?.version ?? 0)
      return {
        current() {
          const version = versionNow()
          if (known?.version !== version) known = { version, list: models.current()?.map(withPrice) }
          return known.list
        },
        get version() {
          return versionNow()
        },
        get pending() {
          return models.pending
        },
        get failure() {
          return models.failure
        },
      }
    },
  }
}
