import { describe, expect, test } from 'bun:test'
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

describe('an answer by another model', () => {
  const by = (served: string) => ({ ...usage, billed: { model: served } })

  test('costs what is served, with or without a date, where the provider has a price for it', () => {
    const { book, costOf } = subject({ brand: 'openai' })
    const cost = costOf('m')
    book.replace(
      new Map([
        [
          'openai',
          new Map([
            ['m', price(1)],
            ['n', price(2)],
          ]),
        ],
      ]),
    )
    expect(cost(by('n'))).toEqual({ nanoUsd: 2_000, source: 'prices.json', isOfServed: true })
    expect(cost(by('n-2026-01-31'))).toEqual({ nanoUsd: 2_000, source: 'prices.json', isOfServed: true })
    expect(cost(by('unknown'))).toEqual({ nanoUsd: 1_000, source: 'prices.json' })
    book.replace(new Map([['openai', new Map([['n', price(3)]])]]))
    expect([cost(usage), cost(by('n'))?.nanoUsd, cost(by('unknown'))]).toEqual([undefined, 3_000, undefined])
    for (let index = 0; index < 100; index++) expect(cost(by(`x${index}`))).toBeUndefined()
  })

  test('costs what the owner says of the model that was asked for, unless the owner prices the other one', () => {
    const own = [model({ price: price(1) }), model({ name: 'n', upstream: 'n', price: price(2) })]
    const { book, costOf } = subject({ brand: 'openai', models: own })
    book.replace(new Map([['openai', new Map([['*', price(9)]])]]))
    expect(costOf('m')(by('n'))).toEqual({ nanoUsd: 2_000, source: 'config', isOfServed: true })
    expect(costOf('m')(by('o'))).toEqual({ nanoUsd: 1_000, source: 'config' })
  })

  test('costs what the provider reports', () => {
    const { book, costOf } = subject({ brand: 'openrouter' })
    book.replace(new Map([['openrouter', new Map([['n', price(2)]])]]))
    const cost = costOf('m')({ ...usage, billed: { model: 'n', cost: 0.5 } })
    expect(cost).toEqual({ nanoUsd: 500_000_000, source: 'reported' })
  })
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
