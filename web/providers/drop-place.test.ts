import { describe, expect, test } from 'bun:test'
import { dropPlace } from './drop-place.ts'

/** Rows of 48 px, from 100 on. */
const rows = [0, 1, 2, 3].map((index) => ({ top: 100 + index * 48, height: 48 }))

describe('a dropped row', () => {
  test.each([
    [0, 110, 0],
    [0, 160, 0],
    [0, 173, 1],
    [0, 900, 3],
    [3, 0, 0],
    [3, 123, 0],
    [3, 125, 1],
    [1, 160, 1],
    [1, -5, 0],
  ])('from place %i, at %i px, gets place %i', (from, y, to) => {
    expect(dropPlace(rows, from, y)).toBe(to)
  })

  test('of no list stays', () => {
    expect(dropPlace([], 0, 10)).toBe(0)
  })
})
