import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { median, percentile, summarize } from './statistics.ts'

describe('median', () => {
  test('of nothing is nothing', () => {
    expect(median([])).toBeUndefined()
  })

  test.each([
    { values: [7], expected: 7 },
    { values: [3, 1, 2], expected: 2 },
    { values: [10, 2, 4, 3], expected: 3.5 },
    { values: [100, 9, 20], expected: 20 },
  ])('of $values is $expected', ({ values, expected }) => {
    expect(median(values)).toBe(expected)
  })

  test('has equal numbers of values below and above', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const middle = median(values) ?? Number.NaN
        expect(values.filter((value) => value < middle).length).toBeLessThanOrEqual(values.length / 2)
        expect(values.filter((value) => value > middle).length).toBeLessThanOrEqual(values.length / 2)
      }),
    )
  })
})

describe('percentile', () => {
  test('of nothing is nothing', () => {
    expect(percentile([], 50)).toBeUndefined()
  })

  test.each([
    { values: [4, 1, 3, 2], percent: 50, expected: 2 },
    { values: [4, 1, 3, 2], percent: 99, expected: 4 },
    { values: [4, 1, 3, 2], percent: 0, expected: 1 },
  ])('$percent of $values is $expected', ({ values, percent, expected }) => {
    expect(percentile(values, percent)).toBe(expected)
  })
})

describe('summarize', () => {
  test('gives the median with its extremes', () => {
    expect(summarize([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5, count: 3 })
  })

  test('of nothing is nothing', () => {
    expect(summarize([])).toBeUndefined()
  })
})
