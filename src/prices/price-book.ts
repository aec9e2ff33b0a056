import type { Price } from '../formats/model.ts'

/** Prices by the id or the brand of a provider, then by its name of the model, or a beginning of it and `*`. */
export type PriceList = ReadonlyMap<string, ReadonlyMap<string, Price>>

/** A provider, as prices are found for it. */
export interface PricedProvider {
  readonly id: string
  readonly brand?: string
}

/** The prices of prices.json. */
export interface PriceBook {
  /** Grows with each change. */
  readonly version: number
  /** Prices of a provider's id are before those of its brand, exact names before beginnings, long ones before short. */
  find(provider: PricedProvider, model: string): Price | undefined
  /** Replaces all prices. */
  replace(list: PriceList): void
}

/** Makes an empty book. */
export function priceBook(): PriceBook {
  let list: PriceList = new Map()
  let version = 0
  return {
    get version() {
      return version
    },
    find({ id, brand }, model) {
      return priceIn(list.get(id), model) ?? (brand === undefined ? undefined : priceIn(list.get(brand), model))
    },
    replace(next) {
      list = next
      version += 1
    },
  }
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
