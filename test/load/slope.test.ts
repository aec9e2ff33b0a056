import { expect, test } from 'bun:test'
import { histogram } from './histogram.ts'
import { slopeOf } from './slope.ts'

test('the slope of a line is its own, whatever its noise that cancels out', () => {
  const samples = Array.from({ length: 100 }, (_, index) => ({ atSeconds: index * 10, value: 50 + index / 36 + ([3, -3, -3, 3][index % 4] ?? 0) }))
  const { anHour, errorAnHour } = slopeOf(samples)
  expect(anHour).toBeCloseTo(10, 0)
  expect(errorAnHour).toBeGreaterThan(1)
  expect(errorAnHour).toBeLessThan(10)
})

test('too few samples have no slope', () => {
  const flat = { anHour: 0, errorAnHour: 0 }
  expect(slopeOf([])).toEqual(flat)
  expect(slopeOf([{ atSeconds: 1, value: 5 }, { atSeconds: 2, value: 6 }])).toEqual(flat)
})

test('percentiles of a histogram are within two percent, also of several together', () => {
  const odd = histogram(), even = histogram()
  for (let us = 1; us <= 10_000; us++) (us % 2 === 0 ? even : odd).add(us)
  const all = histogram(odd.counts, even.counts)
  for (const percent of [1, 50, 99, 100]) expect(all.percentile(percent) / (percent * 100)).toBeCloseTo(1, 1)
  expect(histogram().percentile(99)).toBe(0)
})
