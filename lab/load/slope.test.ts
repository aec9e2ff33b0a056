import { expect, test } from 'bun:test'
import { histogram } from './histogram.ts'
import { floorOf, slopeOf } from './slope.ts'

test('the slope of a line is found in spite of noise', () => {
  const samples = Array.from({ length: 100 }, (_, index) => ({
    atSeconds: index * 10,
    value: 50 + index / 36 + ([3, -3, -3, 3][index % 4] ?? 0),
  }))
  const { anHour, errorAnHour } = slopeOf(samples)
  expect(anHour).toBeCloseTo(10, 0)
  expect(errorAnHour).toBeGreaterThan(1)
  expect(errorAnHour).toBeLessThan(10)
})

test('too few samples have no slope', () => {
  const flat = { anHour: 0, errorAnHour: 0 }
  expect(slopeOf([])).toEqual(flat)
  expect(
    slopeOf([
      { atSeconds: 1, value: 5 },
      { atSeconds: 2, value: 6 },
    ]),
  ).toEqual(flat)
})

test('the floor is the sum of the minima of each process within a window', () => {
  const at = (atSeconds: number, first: number, second: number) => ({
    atSeconds,
    values: new Map([
      [1, first],
      [2, second],
    ]),
  })
  const measured = [
    at(0, 10, 90),
    at(30, 12, 20),
    at(59, 40, 25),
    at(60, 11, 80),
    at(119, 70, 22),
    at(300, 1, 2),
    at(360, 3, 4),
  ]
  expect(floorOf(measured, 60)).toEqual([
    { atSeconds: 30, value: 30 },
    { atSeconds: 90, value: 33 },
    { atSeconds: 330, value: 3 },
  ])
  expect(floorOf([], 60)).toEqual([])
})

test('percentiles of a histogram are within two percent, also of several together', () => {
  const odd = histogram(),
    even = histogram()
  for (let us = 1; us <= 10_000; us++) (us % 2 === 0 ? even : odd).add(us)
  const all = histogram(odd.counts, even.counts)
  for (const percent of [1, 50, 99, 100]) expect(all.percentile(percent) / (percent * 100)).toBeCloseTo(1, 1)
  expect(histogram().percentile(99)).toBe(0)
})
