import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Price } from '../formats/model.ts'
import type { Usage } from '../formats/usage.ts'
import { costFunction, type SourcedPrice } from './cost.ts'

const price: Price = { input: 2.5, output: 10, cachedInput: 1.25 }
const usage: Usage = { promptTokens: 1_000, completionTokens: 200, totalTokens: 1_200 }

/** Nano-USD of a usage at a price of the configuration. */
function nanoUsd(used: Usage | undefined, asked: Price | undefined): number | undefined {
  return costFunction(asked && { price: asked, source: 'config' }, false)(used)?.nanoUsd
}

describe('the cost of an answer', () => {
  test.each<[string, Usage, Price, number]>([
    ['prompt and completion, each at its price', usage, price, 4_500_000],
    ['cached tokens at their own price', { ...usage, cachedTokens: 400 }, price, 4_000_000],
    [
      'cached tokens at the price of others where they have none',
      { ...usage, cachedTokens: 400 },
      { input: 2.5, output: 10 },
      4_500_000,
    ],
    ['all cached tokens that are reported', { ...usage, cachedTokens: 5_000 }, price, 8_250_000],
    ['cached tokens that are no count as none', { ...usage, cachedTokens: -400 }, price, 4_500_000],
    ['cache writes for 5 minutes at a quarter more', { ...usage, cacheWriteTokens: 400 }, price, 4_750_000],
    ['cache writes at their own price', { ...usage, cacheWriteTokens: 400 }, { ...price, cacheWrite: 3 }, 4_700_000],
    [
      'cache writes for an hour at twice',
      { ...usage, cacheWriteTokens: 400, cacheWriteHourTokens: 400 },
      price,
      5_500_000,
    ],
    [
      'cache reads, both writes and the rest, each at its price',
      { ...usage, cachedTokens: 400, cacheWriteTokens: 300, cacheWriteHourTokens: 100 },
      price,
      4_375_000,
    ],
    ['reasoning at the price of the answer', { ...usage, reasoningTokens: 150 }, price, 4_500_000],
    ['reasoning at its own price', { ...usage, reasoningTokens: 150 }, { ...price, reasoning: 4 }, 3_600_000],
    [
      'audio and images at their own prices',
      { ...usage, billed: { audioIn: 100, imageIn: 200, audioOut: 50 } },
      { ...price, audioInput: 40, imageInput: 5, audioOutput: 80 },
      700 * 2_500 + 100 * 40_000 + 200 * 5_000 + 150 * 10_000 + 50 * 80_000,
    ],
    [
      'the request and its searches',
      { ...usage, billed: { searches: 2 } },
      { ...price, request: 0.005, search: 0.01 },
      29_500_000,
    ],
    ['a free model', usage, { input: 0, output: 0 }, 0],
    ['the prompt alone, counted with an answer of nothing', { ...usage, completionTokens: 0 }, price, 2_500_000],
    ['one token, rounded up to a nano-USD', { ...usage, promptTokens: 1 }, { input: 0.000_1, output: 0 }, 1],
  ])('is of %s', (_, used, asked, cost) => {
    expect(nanoUsd(used, asked)).toBe(cost)
  })

  test.each<[string, Usage | undefined, Price | undefined]>([
    ['the price', usage, undefined],
    ['the usage', undefined, price],
    ['the prompt', { ...usage, promptTokens: undefined }, price],
    ['the completion', { ...usage, completionTokens: undefined }, price],
    ['a prompt that is a count', { ...usage, promptTokens: -1 }, price],
    ['a completion that is a count', { ...usage, completionTokens: 1e300 }, price],
  ])('is not known without %s', (_, used, asked) => {
    expect(nanoUsd(used, asked)).toBeUndefined()
  })

  test.each<[string, Usage | undefined, Price, number]>([
    ['no usage of a free model', undefined, { input: 0, output: 0 }, 0],
    ['no usage of a model that is paid by the request', undefined, { input: 0, output: 0, request: 0.04 }, 40_000_000],
    [
      'no count of the answer, which is free',
      { ...usage, completionTokens: undefined },
      { input: 2.5, output: 0 },
      2_500_000,
    ],
  ])('is known with %s', (_, used, asked, cost) => {
    expect(nanoUsd(used, asked)).toBe(cost)
  })

  test('names its source, and counts that contradict each other', () => {
    const priced: SourcedPrice = { price, source: 'catalogue' }
    expect(costFunction(priced, false)(usage)).toStrictEqual({ nanoUsd: 4_500_000, source: 'catalogue' })
    expect(costFunction(priced, false)({ ...usage, cachedTokens: 1_001 })).toMatchObject({ hasConflict: true })
  })

  test('is never negative for any counts', () => {
    const count = fc.option(fc.oneof(fc.double(), fc.integer()), { nil: undefined })
    fc.assert(
      fc.property(count, count, count, count, count, (promptTokens, completionTokens, cachedTokens, written, hour) => {
        const caches = { cachedTokens, cacheWriteTokens: written, cacheWriteHourTokens: hour }
        const cost = nanoUsd({ promptTokens, completionTokens, totalTokens: undefined, ...caches }, price)
        expect(cost === undefined || (cost >= 0 && Number.isSafeInteger(cost))).toBe(true)
      }),
    )
  })
})

describe('what caches saved', () => {
  test.each<[string, Partial<Usage>, number | undefined]>([
    ['a read, at the price of input less its own', { cachedTokens: 400 }, 500_000],
    ['a write, which costs a quarter more', { cacheWriteTokens: 400 }, -250_000],
    ['a write for an hour, which costs twice', { cacheWriteTokens: 400, cacheWriteHourTokens: 400 }, -1_000_000],
    ['both', { cachedTokens: 400, cacheWriteTokens: 400 }, 250_000],
    ['none', {}, undefined],
  ])('of %s', (_, used, saved) => {
    const cost = costFunction({ price, source: 'config' }, false)({ ...usage, ...used })
    expect(cost?.savedNanoUsd).toBe(saved)
  })
})

describe('prices above a number of tokens', () => {
  const stepped: Price = {
    ...price,
    above: [
      { tokens: 1_000, input: 5, output: 20, cachedInput: 2.5 },
      { tokens: 100_000, input: 10 },
    ],
  }

  test.each<[string, Partial<Usage>, number]>([
    ['not at that number', {}, 4_500_000],
    ['for the whole request', { promptTokens: 1_001 }, 1_001 * 5_000 + 200 * 20_000],
    [
      'with cached and written tokens',
      { promptTokens: 1_001, cachedTokens: 900, cacheWriteTokens: 100 },
      5_000 + 900 * 2_500 + 100 * 6_250 + 200 * 20_000,
    ],
    ['the highest one, and else those of the price', { promptTokens: 100_001 }, 100_001 * 10_000 + 200 * 10_000],
  ])('hold %s', (_, more, cost) => {
    expect(nanoUsd({ ...usage, ...more }, stepped)).toBe(cost)
  })
})

describe('prices of a service tier', () => {
  const tiered: Price = {
    ...price,
    above: [{ tokens: 1_000, input: 5 }],
    flex: { input: 1.25, output: 5 },
    priority: { input: 5, output: 20, above: [{ tokens: 1_000, output: 40 }] },
  }

  test.each<[string | undefined, number, number]>([
    ['flex', 1_000, 2_250_000],
    ['flex', 2_000, 3_500_000],
    ['priority', 1_000, 9_000_000],
    ['priority', 2_000, 18_000_000],
    ['default', 1_000, 4_500_000],
    ['standard', 2_000, 12_000_000],
    [undefined, 2_000, 12_000_000],
  ])('go by the tier of the answer: %p with %p tokens', (serviceTier, promptTokens, cost) => {
    expect(nanoUsd({ ...usage, promptTokens, billed: { serviceTier } }, tiered)).toBe(cost)
  })

  test('are those of the price where the tier has none', () => {
    expect(nanoUsd({ ...usage, billed: { serviceTier: 'flex' } }, price)).toBe(4_500_000)
  })
})

describe('a reported cost', () => {
  const reporting: Usage = { ...usage, billed: { cost: 0.001_234_5 } }
  const reported = { nanoUsd: 1_234_500, source: 'reported' }

  test.each<[string, SourcedPrice | undefined]>([
    ['without a price', undefined],
    ['before a list', { price, source: 'prices.json' }],
    ['before the catalogue', { price, source: 'catalogue' }],
  ])('counts %s', (_, priced) => {
    expect(costFunction(priced, true)(reporting)).toMatchObject(reported)
  })

  test('does not count at providers that are not known for it, nor beside a price of the configuration', () => {
    expect(costFunction(undefined, false)(reporting)).toBeUndefined()
    expect(costFunction({ price, source: 'config' }, true)(reporting)?.nanoUsd).toBe(4_500_000)
  })

  test('of 0 counts where no price is known, and beside a price it is not known', () => {
    const free: Usage = { ...usage, billed: { cost: 0 } }
    expect(costFunction(undefined, true)(free)).toEqual({ nanoUsd: 0, source: 'reported' })
    expect(costFunction({ price, source: 'prices.json' }, true)(free)?.nanoUsd).toBe(4_500_000)
  })

  test.each<[string, Usage]>([['negative', { ...usage, billed: { cost: -1 } }]])(
    'does not count when it is %s',
    (_, used) => {
      expect(costFunction(undefined, true)(used)).toBeUndefined()
      expect(costFunction({ price, source: 'prices.json' }, true)(used)?.nanoUsd).toBe(4_500_000)
    },
  )
})

describe('a provider that reports costs, for a model without a price', () => {
  const estimated: Usage = { promptTokens: 1_000, completionTokens: 100, totalTokens: 1_100, isEstimated: true }

  test('has an assumed price for estimated tokens before its first report, then that of its reports', () => {
    const cost = costFunction(undefined, true)
    expect(cost(estimated)).toEqual({ nanoUsd: 22_500_000, source: 'reports' })
    expect(cost({ ...estimated, billed: { cost: 0.5 } })).toEqual({ nanoUsd: 22_500_000, source: 'reports' })
    cost({ ...usage, billed: { cost: 0.004 } })
    expect(cost(estimated)).toEqual({ nanoUsd: 3_000_000, source: 'reports' })
  })

  test('is free for estimates when it reports that it is', () => {
    const cost = costFunction(undefined, true)
    cost({ ...usage, billed: { cost: 0 } })
    expect(cost(estimated)?.nanoUsd).toBe(0)
  })

  test('has no price for counted tokens without a report, and nothing is learned from those without tokens', () => {
    const cost = costFunction(undefined, true)
    expect([cost(usage), cost(undefined)]).toEqual([undefined, undefined])
    cost({ promptTokens: 0, completionTokens: 0, totalTokens: 0, billed: { cost: 3 } })
    expect(cost(estimated)?.nanoUsd).toBe(22_500_000)
  })
})
