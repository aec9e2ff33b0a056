import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { noDemand, type Demand } from '../../formats/demand.ts'
import type { Price } from '../../formats/model.ts'
import { costFunction, type CostOf } from '../../prices/cost.ts'
import { estimateOf } from './estimate.ts'

const price: Price = { input: 1, output: 10 }

function costOf(changes: Partial<Price> = {}): CostOf {
  return costFunction({ price: { ...price, ...changes }, source: 'config' }, false)
}

const model = { costOf: costOf(), maxOutput: undefined, bytesPerToken: 2 }
const demand: Demand = { ...noDemand, textBytes: 2_000, answerTokens: 100 }

describe('an estimate', () => {
  test('has the price of the provider: 1,000 tokens of the prompt, 100 of the answer', () => {
    expect(estimateOf(demand, model)).toMatchObject({ nanoUsd: 2_000_000, promptTokens: 1_000, answerTokens: 100 })
  })

  test.each([
    [{ answers: 3 }, {}, 300],
    [{ answerTokens: undefined }, {}, 4_096],
    [{ answerTokens: undefined }, { maxOutput: 500 }, 500],
    [{ answerTokens: undefined }, { maxOutput: 128_000 }, 4_096],
    [{ answerTokens: 90_000 }, { maxOutput: 500 }, 500],
    [{ answerTokens: 1e9 }, {}, 131_072],
    [{ answerTokens: 1e9 }, { maxOutput: 400_000 }, 400_000],
    [{ answerTokens: 1e9, answers: 1e9 }, {}, 1e9],
  ])('of %j at a model of %j is for answers of %d tokens', (asked, more, answerTokens) => {
    expect(estimateOf({ ...demand, ...asked }, { ...model, ...more })?.answerTokens).toBe(answerTokens)
  })

  test.each([
    [{ cacheWrite: 'minutes' }, {}, 2_250_000],
    [{ cacheWrite: 'hour' }, {}, 3_000_000],
    [{ mediaTokens: 2_000 }, {}, 4_000_000],
    [{}, { reasoning: 30 }, 4_000_000],
    [{}, { request: 0.01 }, 12_000_000],
    [{}, { above: [{ tokens: 500, input: 2 }] }, 3_000_000],
    [{ serviceTier: 'priority' }, { priority: { output: 20 } }, 3_000_000],
    [{ serviceTier: 'priority' }, { priority: { reasoning: 30 } }, 4_000_000],
    [{}, { above: [{ tokens: 500, reasoning: 30 }] }, 4_000_000],
  ] as const)('of %j at prices with %j is %d nano-USD', (asked, prices, nanoUsd) => {
    expect(estimateOf({ ...demand, ...asked }, { ...model, costOf: costOf(prices) })?.nanoUsd).toBe(nanoUsd)
  })

  test.each([
    ['none', 'minutes', 2_250_000],
    ['minutes', 'hour', 3_000_000],
    ['hour', 'minutes', 3_000_000],
  ] as const)('of a request to cache %s at a provider that is asked for %s', (asked, cacheWrite, nanoUsd) => {
    const placing = Object.assign(costOf(), { cacheWrite })
    expect(estimateOf({ ...demand, cacheWrite: asked }, { ...model, costOf: placing })?.nanoUsd).toBe(nanoUsd)
  })

  test.each([
    [{}, {}, 100],
    [{ answers: 3 }, {}, 300],
    [{ answerTokens: 1e9, answers: 1e9 }, {}, 131_072],
    [{ answerTokens: 1e9, answers: 1e9 }, { maxOutput: 400_000 }, 400_000],
  ])('of %j at a model of %j books %d tokens of an answer that did not come', (asked, more, answerTokens) => {
    const estimated = estimateOf({ ...demand, ...asked }, { ...model, ...more })
    expect(estimated?.withoutAnswer).toBe(1_000_000 + 10_000 * answerTokens)
  })

  test('of a model without a price is not known', () => {
    expect(estimateOf(demand, { ...model, costOf: undefined })).toBeUndefined()
    expect(estimateOf(demand, { ...model, costOf: costFunction(undefined, false) })).toBeUndefined()
  })

  test('of a model without a price, at a provider that reports costs, is by an assumed price', () => {
    const estimate = estimateOf(demand, { ...model, costOf: costFunction(undefined, true) })
    expect(estimate?.nanoUsd).toBe(1_000 * 15_000 + 100 * 75_000)
  })

  test('at a free provider is 0', () => {
    expect(estimateOf(demand, { ...model, costOf: costOf({ input: 0, output: 0 }) })?.nanoUsd).toBe(0)
  })

  test('is never below the cost of an answer within its bounds', () => {
    fc.assert(
      fc.property(
        fc.record({
          textBytes: fc.nat(1_000_000),
          mediaTokens: fc.nat(10_000),
          answerTokens: fc.option(fc.nat(5_000), { nil: undefined }),
          answers: fc.integer({ min: 1, max: 5 }),
          cacheWrite: fc.constantFrom('none', 'minutes', 'hour'),
        }),
        fc.record({
          prompt: fc.double({ min: 0, max: 1, noNaN: true }),
          answer: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
        fc.record({
          input: fc.nat(100),
          output: fc.nat(100),
          reasoning: fc.nat(200),
          request: fc.constantFrom(0, 0.1),
        }),
        (asked, used, prices) => {
          const own = costOf(prices)
          const estimate = estimateOf({ ...noDemand, ...asked }, { ...model, costOf: own })
          const promptTokens = Math.floor((estimate?.promptTokens ?? 0) * used.prompt)
          const completionTokens = Math.floor((estimate?.answerTokens ?? 0) * used.answer)
          for (const reasoningTokens of [0, completionTokens]) {
            const usage = { promptTokens, completionTokens, totalTokens: undefined, reasoningTokens }
            expect(own(usage)?.nanoUsd).toBeLessThanOrEqual(estimate?.nanoUsd ?? -1)
          }
        },
      ),
    )
  })
})
