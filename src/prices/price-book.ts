import type { Price } from '../formats/model.ts'
import type { SourcedPrice } from './cost.ts'

/** Prices by the id or the brand of a provider, then by its name of the model, or a beginning of it and `*`. */
export type PriceList = ReadonlyMap<string, ReadonlyMap<string, Price>>

/** A provider, as prices are found for it. */
export interface PricedProvider {
  readonly id: string
  readonly brand?: string
  /** Brand whose shipped prices hold. */
  readonly listedBrand?: string
}

/** Prices by brand that come with svc: the provider's names of models → prices. `undefined`: none of this brand. */
export type ShippedPrices = (brand: string) => ReadonlyMap<string, Price> | undefined

/** The prices of prices.json, behind them those of the fetched list, and then those that come with svc. */
export interface PriceBook {
  /** Grows with each change. */
  readonly version: number
  /** Prices of a provider's id are before those of its brand, exact names before beginnings, long ones before short. */
  find(provider: PricedProvider, model: string): SourcedPrice | undefined
  /** Replaces all prices of prices.json. */
  replace(list: PriceList): void
  /** Replaces the fetched list: prices by brand, for its own address. */
  replaceFetched(list: PriceList): void
}

/** Makes a book without prices of prices.json. @param shipped default: none */
export function priceBook(shipped: ShippedPrices = () => undefined): PriceBook {
  let list: PriceList = new Map()
  let fetched: PriceList = new Map()
  let version = 0
  return {
    get version() {
      return version
    },
    find({ id, brand, listedBrand }, model) {
      const own = priceIn(list.get(id), model) ?? (brand === undefined ? undefined : priceIn(list.get(brand), model))
      if (own !== undefined) return { price: own, source: 'prices.json' }
      if (listedBrand === undefined) return undefined
      const newer = listedIn(fetched.get(listedBrand), model)
      if (newer !== undefined) return { price: newer, source: 'fetched' }
      const price = listedIn(shipped(listedBrand), model)
      return price === undefined ? undefined : { price, source: 'list' }
    },
    replace(next) {
      list = next
      version += 1
    },
    replaceFetched(next) {
      fetched = next
      version += 1
    },
  }
}

/** The price in a list. Fine-tuned models, `ft:BASE:OWNER::ID`, have that of all of their base. */
function listedIn(prices: ReadonlyMap<string, Price> | undefined, model: string): Price | undefined {
  const [base] = /^ft:[^:]+:/.exec(model) ?? []
  return prices?.get(model) ?? (base === undefined ? undefined : prices?.get(`${base}*`))
}

function priceIn(prices: ReadonlyMap<string, Price> | undefined, model: string): Price | undefined {
  const exact = prices?.get(model)
  if (exact !== undefined || prices === undefined) return exact
  let longest = -1
  let found: Price | undefined
  for (const [name, price] of prices) {
    const length = name.length - 1
    if (length <= longest || !name.endsWith('*') || !model.startsWith(name.slice(0, length))) continue
    longest = length
    found = price
  }
  return found
}
