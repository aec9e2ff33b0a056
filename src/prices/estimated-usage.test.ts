import { describe, expect, test } from 'bun:test'
import type { Usage } from '../formats/usage.ts'
import { costFunction } from './cost.ts'
import { credibleUsage, estimatedUsage } from './estimated-usage.ts'

const estimate = { prompt: 10, answer: 6 }
const counted: Usage = { promptTokens: 7, completionTokens: 9, totalTokens: 16, cachedTokens: 3 }

describe('complaint: client leaves: free, or charged wrongly', () => {
  test('an answer without counts is estimated, and marked', () => {
    for (const isCut of [false, true])
      expect(estimatedUsage({ usage: undefined, isCut, hasContent: true }, estimate)).toEqual({
        promptTokens: 10,
        completionTokens: 6,
        totalTokens: 16,
        isEstimated: true,
      })
  })

  test.each<[string, Partial<Usage>, Partial<Usage>]>([
    ['the prompt', { promptTokens: 0 }, { promptTokens: 10, completionTokens: 9, totalTokens: 19 }],
    ['the answer', { completionTokens: 0 }, { promptTokens: 7, completionTokens: 6, totalTokens: 13 }],
    ['both', { promptTokens: 0, completionTokens: 0 }, { promptTokens: 10, completionTokens: 6, totalTokens: 16 }],
  ])('a count of 0 cannot be that of %s, where there is content', (_, zeros, expected) => {
    const { cachedTokens: _cached, ...usage } = { ...counted, ...zeros }
    expect(estimatedUsage({ usage, isCut: false, hasContent: true }, estimate)).toEqual({
      ...usage,
      ...expected,
      isEstimated: true,
    })
  })

  test('0 tokens are right for an answer without content, and for a prompt that was cached as a whole', () => {
    const blank: Usage = { promptTokens: 7, completionTokens: 0, totalTokens: 7 }
    expect(estimatedUsage({ usage: blank, isCut: false, hasContent: false }, estimate)).toBe(blank)
    const cached: Usage = { promptTokens: 0, completionTokens: 9, totalTokens: 9, cachedTokens: 30 }
    expect(estimatedUsage({ usage: cached, isCut: false, hasContent: true }, estimate)).toBe(cached)
  })

  test('zeros of a cached answer are right where its provider reports costs that count', () => {
    const usage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, billed: { cost: 0 } }
    const answer = { usage, isCut: false, hasContent: true }
    expect(estimatedUsage({ ...answer, costOf: costFunction(undefined, true) }, estimate)).toBe(usage)
    expect(estimatedUsage({ ...answer, costOf: costFunction(undefined, false) }, estimate)?.isEstimated).toBe(true)
  })

  test('counts that cannot be are not known, where nothing can be estimated', () => {
    const usage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }
    const known = (hasContent: boolean) => credibleUsage({ usage, isCut: false, hasContent })
    expect(known(true)).toEqual({ promptTokens: undefined, completionTokens: undefined, totalTokens: 0 })
    expect(known(false)).toEqual({ promptTokens: undefined, completionTokens: 0, totalTokens: 0 })
  })

  test('a whole answer keeps all counts of its provider', () => {
    expect(estimatedUsage({ usage: counted, isCut: false, hasContent: true }, estimate)).toBe(counted)
    const { promptTokens: _, ...rest } = counted
    expect(
      estimatedUsage({ usage: { ...rest, promptTokens: undefined }, isCut: false, hasContent: true }, estimate),
    ).toEqual({
      ...counted,
      promptTokens: 10,
      totalTokens: 19,
      isEstimated: true,
    })
  })

  test.each([
    [1, 6],
    [9, 9],
    [undefined, 6],
  ])('of an answer that was cut, %p counted tokens are a minimum', (completionTokens, tokens) => {
    const usage = { ...counted, completionTokens }
    expect(estimatedUsage({ usage, isCut: true, hasContent: true }, estimate)).toEqual({
      ...counted,
      completionTokens: tokens,
      totalTokens: 7 + tokens,
      isEstimated: true,
    })
  })

  test.each([-1, 1e300, 0.5, NaN])('a count of %p is none', (count) => {
    const usage = { ...counted, promptTokens: count, completionTokens: count }
    expect(estimatedUsage({ usage, isCut: false, hasContent: true }, estimate)).toMatchObject({
      promptTokens: 10,
      completionTokens: 6,
    })
  })
})
