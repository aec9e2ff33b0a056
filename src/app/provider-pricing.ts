import type { ProviderConfig } from '../config/config.ts'
import type { OfferedModel } from '../formats/model.ts'
import type { Usage } from '../formats/usage.ts'
import type { ModelList } from '../gateway/provider.ts'
import { costFunction, type CostOf, type SourcedPrice } from '../prices/cost.ts'
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

  function costOfServed(asked: string, served: string, costOfAsked: CostOf): CostOf {
    const price = priceOfServed(asked, served)
    if (price === undefined) return costOfAsked
    const costOf = costFunction(price, quirks.reportsCost)
    return (usage) => {
      const cost = costOf(usage)
      return cost === undefined || cost.source === 'reported' ? cost : { ...cost, isOfServed: true }
    }
  }

  return {
    costOf(model, cacheWrite) {
      let version = prices?.version
      let costOf = costFunction(priceOf(model), quirks.reportsCost)
      const others = new Map<string, CostOf>()
      function current(): CostOf {
        if (version !== prices?.version) {
          version = prices?.version
          costOf = costFunction(priceOf(model), quirks.reportsCost)
          others.clear()
        }
        return costOf
      }
      function ofServed(served: string, costOfAsked: CostOf): CostOf {
        const known = others.get(served)
        if (known !== undefined) return known
        if (others.size >= othersMax) others.clear()
        const made = costOfServed(model, served, costOfAsked)
        others.set(served, made)
        return made
      }
      const priced = (usage: Usage | undefined) => {
        const costOfAsked = current()
        const served = usage?.billed?.model
        return (served === undefined ? costOfAsked : ofServed(served, costOfAsked))(usage)
      }
      const following: CostOf = Object.assign(priced, { cacheWrite })
      return Object.defineProperty(following, 'hasOneOutput', { get: () => current().hasOneOutput })
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
