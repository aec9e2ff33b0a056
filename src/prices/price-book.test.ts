import { expect, test } from 'bun:test'
import type { Price } from '../formats/model.ts'
import { priceBook, type PriceList } from './price-book.ts'

const price = (input: number): Price => ({ input, output: 0 })

const list: PriceList = new Map([
  ['mine', new Map([['gpt-5', price(1)]])],
  [
    'openai',
    new Map([
      ['gpt-5', price(2)],
      ['gpt-*', price(3)],
      ['gpt-5-*', price(4)],
      ['*', price(5)],
    ]),
  ],
])

test.each([
  ['of its id', 'gpt-5', 1],
  ['of its brand', 'gpt-5-mini', 4],
  ['of a shorter beginning', 'gpt-4o', 3],
  ['of all others', 'o3', 5],
])('a model has the price %s', (_, model, input) => {
  const book = priceBook()
  book.replace(list)
  expect(book.find({ id: 'mine', brand: 'openai' }, model)).toEqual({ price: price(input), source: 'prices.json' })
})

test('other providers have none, and a change is a new version', () => {
  const book = priceBook()
  expect(book.find({ id: 'mine', brand: 'openai' }, 'gpt-5')).toBeUndefined()
  const { version } = book
  book.replace(list)
  expect(book.version).toBeGreaterThan(version)
  expect(book.find({ id: 'groq' }, 'gpt-5')).toBeUndefined()
})
