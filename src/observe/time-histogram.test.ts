import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { timeHistogram } from './time-histogram.ts'

function histogramOf(times: readonly number[]) {
  const histogram = timeHistogram()
  for (const ms of times) histogram.add(ms)
  return histogram
}

describe('a histogram of times', () => {
  test('has no percentile when empty', () => {
    expect(timeHistogram().percentile(0.5)).toBeUndefined()
  })

  test('returns a single time exactly', () => {
    expect([0.5, 0.95].map(histogramOf([340]).percentile)).toEqual([340, 340])
  })

  test('ignores values that are no times', () => {
    expect(histogramOf([Number.NaN, -1, Infinity]).percentile(0.5)).toBeUndefined()
  })

  test.each([
    [0, 0],
    [0.2, 0.2],
    [2 ** 30, 2 ** 30],
  ])('takes %p ms', (ms, told) => {
    expect(histogramOf([ms]).percentile(0.5)).toBe(told)
  })

  test('is accurate to 5 % from a millisecond to a quarter of an hour', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 1_000_000, noNaN: true }), { minLength: 1 }),
        fc.constantFrom(0.5, 0.95),
        (times, share) => {
          const truth = times.toSorted((one, other) => one - other)[Math.ceil(share * times.length) - 1] ?? Number.NaN
          const told = histogramOf(times).percentile(share) ?? Number.NaN
          expect(Math.abs(told / truth - 1)).toBeLessThan(0.05)
        },
      ),
    )
  })
})
