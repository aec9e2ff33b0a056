import { expect, test } from 'bun:test'
import { findBrand } from '../config/catalogue.ts'
import { resolveProvider } from '../config/file/resolve-provider.ts'
import { unitPriceNames, type Price } from '../formats/model.ts'
import { priceBook } from '../prices/price-book.ts'
import list from '../prices/price-list.txt' with { type: 'text' }
import { shippedDate, shippedPrices } from './shipped-prices.ts'

const [date = '', ...lines] = list.trimEnd().split('\n')
const brands = lines.map((line) => line.slice(2, line.indexOf('"', 2)))

test('each line of the list is a known brand, with prices that are valid and none that is 0 for all', () => {
  expect(brands.length).toBeGreaterThan(20)
  const shipped = shippedPrices()
  for (const brand of brands) {
    expect(findBrand(brand)?.id).toBe(brand)
    const prices = [...(shipped(brand)?.values() ?? [])]
    expect(prices.length).toBeGreaterThan(0)
    expect(prices.filter((price) => !isSound(price))).toEqual([])
  }
  expect(new Set(brands).size).toBe(brands.length)
})

const tables = ['above', 'flex', 'priority', 'tools', 'multiples']
const names: readonly string[] = [...unitPriceNames.map(([, name]) => name), ...tables]

function isSound(price: Price): boolean {
  const units = unitPriceNames.map(([, name]) => price[name] ?? 0)
  return (
    price.input + price.output > 0 &&
    units.every((unit) => typeof unit === 'number' && unit >= 0 && unit < 10_000) &&
    Object.keys(price).every((name) => names.includes(name))
  )
}

test('the list has a date', () => {
  expect(new Date(shippedDate()).toISOString().slice(0, 10)).toBe(date)
})

test('a brand without a line has no prices', () => {
  expect(shippedPrices()('ollama')).toBeUndefined()
})

test('fine-tuned models have the price of those of their base', () => {
  const book = priceBook(shippedPrices('["openai",{"ft:m-1:*":{"input":2,"output":3},"m-1":{"input":1,"output":1}}]\n'))
  const own = resolveProvider({ id: 'mine', brand: 'openai' }, {})
  const priceOf = (model: string) => book.find(own, model)?.price.input
  expect(['ft:m-1:acme::a1b2', 'ft:m-1:acme:name:a1b2', 'm-1', 'ft:m-10:acme::a1', 'ft:m-1'].map(priceOf)).toEqual([
    2,
    2,
    1,
    undefined,
    undefined,
  ])
})

test('prices of a brand hold at its own address only, behind those of prices.json', () => {
  const book = priceBook(shippedPrices('["openai",{"m":{"input":2,"output":3}}]\n'))
  const own = resolveProvider({ id: 'mine', brand: 'openai' }, {})
  const proxy = resolveProvider({ id: 'mine', brand: 'openai', baseUrl: 'https://proxy.example/v1' }, {})
  expect([book.find(own, 'm'), book.find(proxy, 'm'), book.find(own, 'm-2')]).toEqual([
    { price: { input: 2, output: 3 }, source: 'list' },
    undefined,
    undefined,
  ])
  book.replace(new Map([['openai', new Map([['*', { input: 1, output: 1 }]])]]))
  expect([own, proxy].map((provider) => book.find(provider, 'm')?.source)).toEqual(['prices.json', 'prices.json'])
})
