import type { Price } from '../formats/model.ts'
import type { PriceList } from './price-book.ts'
import { rateCard, type Rates } from './rates.ts'

/** Why a person should look at a price before it counts. */
export type PriceDoubt = 'is 0' | 'is gone' | 'moved tenfold'

/** A price that differs between two lists. */
export interface PriceChange {
  readonly brand: string
  readonly model: string
  readonly before: Price | undefined
  readonly after: Price | undefined
  readonly doubt: PriceDoubt | undefined
}

/** Factor between two prices from which on the new one is in doubt. */
const doubtfulFactor = 10

/** All differences between the prices that count before and after. */
export function priceChanges(before: PriceList, after: PriceList): readonly PriceChange[] {
  const changes: PriceChange[] = []
  for (const brand of new Set([...before.keys(), ...after.keys()])) {
    const [old, next] = [before.get(brand), after.get(brand)]
    for (const model of new Set([...(old?.keys() ?? []), ...(next?.keys() ?? [])])) {
      const prices = { before: old?.get(model), after: next?.get(model) }
      if (!Bun.deepEquals(prices.before, prices.after))
        changes.push({ brand, model, ...prices, doubt: doubtOf(prices.before, prices.after) })
    }
  }
  return changes
}

function doubtOf(before: Price | undefined, after: Price | undefined): PriceDoubt | undefined {
  if (after === undefined) return 'is gone'
  const next = allRates(after)
  if (before === undefined) return next.every((rate) => rate === 0) ? 'is 0' : undefined
  const old = allRates(before)
  const pairs = next.map((rate, index) => [old[index] ?? 0, rate] as const)
  if (pairs.some(([from, to]) => from > 0 && to === 0)) return 'is 0'
  return pairs.some(([from, to]) => from > 0 && isFar(from, to)) ? 'moved tenfold' : undefined
}

function isFar(from: number, to: number): boolean {
  return Math.max(from, to) >= doubtfulFactor * Math.min(from, to)
}

/** The rates of all tiers, for short prompts and the longest ones, in the same order for each price. */
function allRates(price: Price): readonly number[] {
  const { standard, flex = standard, priority = standard } = rateCard(price)
  return [standard, flex, priority].flatMap(({ base, steps }) => [base, steps[0]?.rates ?? base].flatMap(ratesInOrder))
}

function ratesInOrder({
  input,
  cached,
  write5,
  write60,
  output,
  reasoning,
  audioIn,
  audioOut,
  imageIn,
  imageOut,
  ...each
}: Rates) {
  const fees = [each.request, each.search, each.searchRequest]
  return [input, cached, write5, write60, output, reasoning, audioIn, audioOut, imageIn, imageOut, ...fees]
}
