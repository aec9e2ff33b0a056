import type { ModelEntry } from '../../src/http/page/page-api.ts'
import { storedValue, type StoredValue, type ValueStorage } from '../stored-value.ts'
import { language } from '../texts/locale.ts'

/** Orders of the picker's list. `maker`: the order of the providers, in a group for each maker. */
export const modelOrders = ['maker', 'name', 'price', 'context'] as const

/** An order of the picker's list. */
export type ModelOrder = (typeof modelOrders)[number]

/** The order that this browser remembers. */
export function storedOrder(storage?: ValueStorage): StoredValue<ModelOrder> {
  const parse = (text: string) => modelOrders.find((order) => JSON.stringify(order) === text) ?? 'maker'
  return storedValue('svc.model-order', parse, storage)
}

const names = new Intl.Collator(language, { numeric: true })

/** Sorts models: by name, the cheapest first, or the longest context first. Unknown ones are last. */
export function sortModels(models: readonly ModelEntry[], order: ModelOrder): readonly ModelEntry[] {
  switch (order) {
    case 'maker':
      return models
    case 'name':
      return models.toSorted((one, other) => names.compare(one.name, other.name))
    case 'price':
      return sortBy(models, lowestPrice)
    case 'context':
      return sortBy(models, ({ offers: [first] }) => (first?.context === undefined ? Infinity : -first.context))
  }
}

function sortBy(models: readonly ModelEntry[], figureOf: (model: ModelEntry) => number): readonly ModelEntry[] {
  const figures = new Map(models.map((model) => [model, figureOf(model)]))
  const of = (model: ModelEntry): number => figures.get(model) ?? Infinity
  return models.toSorted((one, other) => (of(one) === of(other) ? 0 : of(one) - of(other)))
}

/** The sum of the prices of tokens and requests at the cheapest provider. */
function lowestPrice({ offers }: ModelEntry): number {
  return Math.min(
    ...offers.map(({ price }) => (price === undefined ? Infinity : price.input + price.output + (price.request ?? 0))),
  )
}
