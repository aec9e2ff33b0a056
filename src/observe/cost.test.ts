import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { costOf } from './cost.ts'

const price = { input: 2.5, output: 10, cachedInput: 1.25 }
const usage = { promptTokens: 1_000, completionTokens: 200, totalTokens: 1_200 }

describe('the cost of an answer', () => {
  test.each([
    ['prompt and completion, each at its price', usage, price, 0.0045],
    ['cached tokens at their own price', { ...usage, cachedTokens: 400 }, price, 0.004],
    [
      'cached tokens at the price of others where they have none',
      { ...usage, cachedTokens: 400 },
      { input: 2.5, output: 10 },
      0.0045,
    ],
    ['no more cached tokens than there were', { ...usage, cachedTokens: 5_000 }, price, 0.00325],
    ['cached tokens that are no count as none', { ...usage, cachedTokens: -400 }, price, 0.0045],
    ['a free model', usage, { input: 0, output: 0 }, 0],
    ['the prompt alone, counted with an answer of nothing', { ...usage, completionTokens: 0 }, price, 0.0025],
  ])('is of %s', (_, used, asked, cost) => {
    expect(costOf(used, asked)).toBeCloseTo(cost, 12)
  })

  test.each([
    ['the price', usage, undefined],
    ['the usage', undefined, price],
    ['the prompt', { ...usage, promptTokens: undefined }, price],
    ['the completion', { ...usage, completionTokens: undefined }, price],
    ['a prompt that is a count', { ...usage, promptTokens: -1 }, price],
    ['a completion that is a count', { ...usage, completionTokens: 1e300 }, price],
  ])('is not known without %s', (_, used, asked) => {
    expect(costOf(used, asked)).toBeUndefined()
  })

  test('is never negative nor endless, whatever a provider counts', () => {
    const count = fc.option(fc.oneof(fc.double(), fc.integer()), { nil: undefined })
    fc.assert(
      fc.property(count, count, count, (promptTokens, completionTokens, cachedTokens) => {
        const cost = costOf({ promptTokens, completionTokens, totalTokens: undefined, cachedTokens }, price)
        expect(cost === undefined || (cost >= 0 && cost < Infinity)).toBe(true)
      }),
    )
  })
})
