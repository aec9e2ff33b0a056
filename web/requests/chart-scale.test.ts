import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { axisTicks, linearScale, linePath, lonePoints, columnAt } from './chart-scale.ts'

describe('the ticks of an axis', () => {
  test.each([
    [0, [0, 1]],
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [7, [0, 2, 4, 6, 8]],
    [10, [0, 5, 10]],
    [950, [0, 500, 1000]],
  ])('up to %d, for counts, are %p', (max, ticks) => {
    expect(axisTicks(max, 4, 1)).toEqual(ticks)
  })

  test('may be fractions, for measurements', () => {
    expect(axisTicks(0.3)).toEqual([0, 0.1, 0.2, 0.3])
  })

  test('ascend evenly from 0 to at least the greatest value', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constant(0), fc.double({ min: 1e-6, max: 1e12, noNaN: true })),
        fc.integer({ min: 1, max: 8 }),
        (max, most) => {
          const ticks = axisTicks(max, most)
          expect(ticks[0]).toBe(0)
          expect(ticks.at(-1) ?? -1).toBeGreaterThanOrEqual(max * (1 - 1e-8))
          expect(ticks.length).toBeGreaterThan(1)
          expect(ticks.length).toBeLessThanOrEqual(most + 1)
          expect(ticks).toEqual(ticks.toSorted((left, right) => left - right))
        },
      ),
    )
  })
})

test('a scale is linear, and may go upwards', () => {
  const scale = linearScale(10, 100, 0)
  expect([scale(0), scale(5), scale(10)]).toEqual([100, 50, 0])
})

describe('a line', () => {
  test('connects its points and leaves a gap for a missing one', () => {
    expect(linePath([{ x: 0, y: 1 }, { x: 1, y: 2.25 }, undefined, { x: 3, y: 4 }, { x: 4, y: 5 }])).toBe(
      'M0 1L1 2.3M3 4L4 5',
    )
  })

  test('leaves out points without neighbours, which are dots', () => {
    const points = [undefined, { x: 3, y: 4 }, undefined, { x: 5, y: 6 }, { x: 6, y: 6 }]
    expect([linePath(points), lonePoints(points)]).toEqual(['M5 6L6 6', [{ x: 3, y: 4 }]])
  })

  test('and dots together equal the runs of points', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined })), (values) => {
        const points = values.map((y, x) => (y === undefined ? undefined : { x, y }))
        const runs = values.filter((value, index) => value !== undefined && values[index - 1] === undefined)
        expect(linePath(points).split('M').length - 1 + lonePoints(points).length).toBe(runs.length)
      }),
    )
  })
})

test.each([
  [0, 0],
  [9.9, 0],
  [10, 1],
  [599, 59],
  [600, 59],
  [900, 59],
  [-5, 0],
])('at %d of 600 pixels, of 60 places, is place %d', (x, place) => {
  expect(columnAt(x, 600, 60)).toBe(place)
})
