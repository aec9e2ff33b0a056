import { isRecord } from '../base/json-value.ts'
import type { Price } from '../formats/model.ts'
import type { ShippedPrices } from '../prices/price-book.ts'
import list from '../prices/price-list.txt' with { type: 'text' }

/**
 * The list of prices that comes with svc (docs/configuration.md#prices). Its text has the date, then one brand a line:
 * a JSON array of the id and the prices. A brand is parsed when it is asked for first, since most are never used.
 *
 * @param text default: the list of this version
 */
export function shippedPrices(text: string = list): ShippedPrices {
  const known = new Map<string, ReadonlyMap<string, Price> | undefined>()
  return (brand) => {
    if (!known.has(brand)) known.set(brand, pricesOf(brand, text))
    return known.get(brand)
  }
}

/** The date of the list that comes with svc, Unix milliseconds. */
export function shippedDate(text: string = list): number {
  return Date.parse(text.slice(0, text.indexOf('\n')))
}

function pricesOf(brand: string, text: string): ReadonlyMap<string, Price> | undefined {
  const begin = `["${brand}",`
  const line = text.split('\n').find((each) => each.startsWith(begin))
  if (line === undefined) return undefined
  const prices: unknown = JSON.parse(line.slice(begin.length, -1))
  if (!isRecord(prices)) return undefined
  // `npm run prices` has checked the list, and so does the test.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return new Map(Object.entries(prices) as [string, Price][])
}
