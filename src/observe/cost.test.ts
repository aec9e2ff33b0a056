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
    ['cache writes for 5 minutes at a quarter more', { ...usage, cacheWriteTokens: 400 }, price, 0.00475],
    [
      'cache writes for an hour at twice',
      { ...usage, cacheWriteTokens: 400, cacheWriteHourTokens: 400 },
      price,
      0.0055,
    ],
    [
      'cache reads, both writes and the rest, each at its price',
      { ...usage, cachedTokens: 400, cacheWriteTokens: 300, cacheWriteHourTokens: 100 },
      price,
      0.004375,
    ],
    [
      'no more cache writes than there were tokens',
      { ...usage, cachedTokens: 600, cacheWriteTokens: 5_000, cacheWriteHourTokens: 9_000 },
      price,
      0.00475,
    ],
    [
      'cache writes that are no count as none',
      { ...usage, cacheWriteTokens: -1, cacheWriteHourTokens: 400 },
      price,
      0.0045,
    ],
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

  test('is finite and not negative for any counts', () => {
    const count = fc.option(fc.oneof(fc.double(), fc.integer()), { nil: undefined })
    fc.assert(
      fc.property(count, count, count, count, count, (promptTokens, completionTokens, cachedTokens, written, hour) => {
        const caches = { cachedTokens, cacheWriteTokens: written, cacheWriteHourTokens: hour }
        const cost = costOf({ promptTokens, completionTokens, totalTokens: undefined, ...caches }, price)
        expect(cost === undefined || (cost >= 0 && cost < Infinity)).toBe(true)
      }),
    )
  })
})
