import { describe, expect, test } from 'bun:test'
import type { Usage } from '../formats/usage.ts'
import { estimatedUsage } from './estimated-usage.ts'

const estimate = { prompt: 10, answer: 6 }
const counted: Usage = { promptTokens: 7, completionTokens: 9, totalTokens: 16, cachedTokens: 3 }

describe('complaint: client leaves: free, or charged wrongly', () => {
  test('an answer without counts is estimated, and marked', () => {
    for (const isCut of [false, true])
      expect(estimatedUsage({ usage: undefined, isCut }, estimate)).toEqual({
        promptTokens: 10,
        completionTokens: 6,
        totalTokens: 16,
        isEstimated: true,
      })
  })

  test('a reported 0 is 0', () => {
    const usage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }
    expect(estimatedUsage({ usage, isCut: false }, estimate)).toBe(usage)
  })

  test('a whole answer keeps all counts of its provider', () => {
    expect(estimatedUsage({ usage: counted, isCut: false }, estimate)).toBe(counted)
    const { promptTokens: _, ...rest } = counted
    expect(estimatedUsage({ usage: { ...rest, promptTokens: undefined }, isCut: false }, estimate)).toEqual({
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
    expect(estimatedUsage({ usage, isCut: true }, estimate)).toEqual({
      ...counted,
      completionTokens: tokens,
      totalTokens: 7 + tokens,
      isEstimated: true,
    })
  })

  test.each([-1, 1e300, 0.5, NaN])('a count of %p is none', (count) => {
    const usage = { ...counted, promptTokens: count, completionTokens: count }
    expect(estimatedUsage({ usage, isCut: false }, estimate)).toMatchObject({ promptTokens: 10, completionTokens: 6 })
  })
})
