import { expect, test } from 'bun:test'
import type { ParsedProvider } from '../config/file/parse-provider.ts'
import { resolveProvider } from '../config/file/resolve-provider.ts'
import type { OfferedModel, Price } from '../formats/model.ts'
import { fixedModels } from '../gateway/provider.ts'
import { priceBook } from '../prices/price-book.ts'
import { providerPricing } from './provider-pricing.ts'

const usage = { promptTokens: 1, completionTokens: 0, totalTokens: 1 }
const price = (input: number): Price => ({ input, output: 0 })
const model = (more: Partial<OfferedModel> = {}): OfferedModel => ({ name: 'm', upstream: 'm', aliases: [], ...more })

function subject(entry: Partial<ParsedProvider>) {
  const book = priceBook()
  return { book, ...providerPricing(resolveProvider({ id: 'a', baseUrl: 'http://127.0.0.1', ...entry }, {}), book) }
}

test('a price of the configuration is before prices.json, and prices.json is before the catalogue', () => {
  const { book, costOf } = subject({ brand: 'ollama', models: [model({ price: price(1) }), model({ upstream: 'n' })] })
  const [m, n] = [costOf('m'), costOf('n')]
  expect([m(usage)?.source, n(usage)]).toEqual(['config', { nanoUsd: 0, source: 'catalogue' }])
  book.replace(new Map([['ollama', new Map([['*', price(2)]])]]))
  expect([m(usage), n(usage)]).toEqual([
    { nanoUsd: 1_000, source: 'config' },
    { nanoUsd: 2_000, source: 'prices.json' },
  ])
})

test('a reported cost is before prices.json, and without it the list counts', () => {
  const { book, costOf } = subject({ brand: 'openrouter' })
  book.replace(new Map([['openrouter', new Map([['m', price(2)]])]]))
  const cost = costOf('m')
  expect(cost({ ...usage, billed: { cost: 0.5 } })).toEqual({ nanoUsd: 500_000_000, source: 'reported' })
  expect(cost(usage)).toEqual({ nanoUsd: 2_000, source: 'prices.json' })
})

test('model lists have the prices, by the name of the provider, and a new version with each change', () => {
  const { book, priced } = subject({})
  const models = priced(fixedModels([model({ name: 'x', upstream: 'vendor/m' })]))
  const { version } = models
  expect(models.current()).toEqual([model({ name: 'x', upstream: 'vendor/m' })])
  book.replace(new Map([['a', new Map([['vendor/*', price(3)]])]]))
  expect(models.version).not.toBe(version)
  expect(models.current()).toEqual([model({ name: 'x', upstream: 'vendor/m', price: price(3) })])
  book.replace(new Map())
  expect(models.current()?.[0]).not.toHaveProperty('price')
})
