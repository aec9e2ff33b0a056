import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Price } from '../formats/model.ts'
import type { PriceList } from './price-book.ts'
import { priceChanges } from './price-changes.ts'
import { rateCard } from './rates.ts'

const price: Price = { input: 2, output: 8, cachedInput: 0.2 }

function listOf(price: Price | undefined): PriceList {
  return new Map([['openai', new Map(price === undefined ? [] : [['m', price]])]])
}

function doubtOf(before: Price | undefined, after: Price | undefined) {
  return priceChanges(listOf(before), listOf(after)).map(({ doubt }) => doubt)
}

describe('complaint: unknown, stale, confused prices', () => {
  test.each<[string, Price | undefined, Price | undefined, ReturnType<typeof doubtOf>]>([
    ['the same price', price, { ...price }, []],
    ['a new model', undefined, price, [undefined]],
    ['a usual change', price, { ...price, input: 4 }, [undefined]],
    ['a price below tenfold', price, { ...price, output: 79 }, [undefined]],
    ['a new model that is free', undefined, { input: 0, output: 0 }, ['is 0']],
    ['a price that becomes 0', price, { ...price, input: 0 }, ['is 0']],
    ['a price of the cache that becomes 0', price, { ...price, cachedInput: 0 }, ['is 0']],
    ['a price that vanishes', price, undefined, ['is gone']],
    ['ten times the price', price, { ...price, output: 80 }, ['moved tenfold']],
    ['a tenth', price, { ...price, output: 0.8 }, ['moved tenfold']],
    ['a tier that is nearly free', price, { ...price, flex: { input: 0.1, output: 0.1 } }, ['moved tenfold']],
    ['a long prompt that is free', price, { ...price, above: [{ tokens: 1_000, output: 0 }] }, ['is 0']],
    ['a free price that costs', { input: 0, output: 0 }, price, [undefined]],
  ])('need consent, or not: %s', (_, before, after, doubts) => {
    expect(doubtOf(before, after)).toEqual(doubts)
  })

  test('never lose a tenth without doubt, for any two lists', () => {
    const amount = fc.oneof(fc.constant(0), fc.double({ min: 1e-6, max: 1_000, noNaN: true }))
    const prices = fc.record({ input: amount, output: amount, cachedInput: amount })
    const lists = fc.dictionary(fc.constantFrom('a', 'b', 'c'), prices).map((models) => new Map(Object.entries(models)))
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const doubtful = new Set(
          priceChanges(new Map([['x', before]]), new Map([['x', after]])).flatMap(({ model, doubt }) =>
            doubt === undefined ? [] : [model],
          ),
        )
        for (const [model, old] of before) {
          if (doubtful.has(model)) continue
          const next = after.get(model)
          if (next === undefined) throw new Error(`${model} vanished`)
          const [from, to] = [rateCard(old).standard.base, rateCard(next).standard.base]
          for (const unit of ['input', 'output', 'cached'] as const)
            if (from[unit] > 0) expect(to[unit] > from[unit] / 10 && to[unit] < from[unit] * 10).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  })
})
