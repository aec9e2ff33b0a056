import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Group } from './groups.ts'
import { placed, rowsBetween } from './list-layout.ts'

const sizes = { row: 10, heading: 7 }

function groupOf(count: number): Group {
  return {
    label: String(count),
    isPinned: false,
    count,
    heads: Array.from({ length: count }, (_, index) => ({
      id: String(index),
      title: '',
      isPinned: false,
      created: 0,
      updated: 0,
      messageCount: 0,
    })),
  }
}

describe('the list', () => {
  test('gives headings of folders the height of rows', () => {
    expect(placed([{ ...groupOf(2), folder: 'F' }, groupOf(1)], sizes).map(({ top }) => top)).toEqual([10, 37])
  })

  test('stacks its groups', () => {
    expect(placed([groupOf(3), groupOf(1), groupOf(2)], sizes).map(({ first, top }) => [first, top])).toEqual([
      [0, 7],
      [3, 44],
      [4, 61],
    ])
  })

  test.each([
    [0, 37, 0, 3],
    [7, 17, 0, 1],
    [16, 18, 0, 2],
    [17, 27, 1, 2],
    [36.5, 60, 2, 3],
    [-50, 5, 0, 0],
    [37, 99, 3, 3],
  ])('shows between %d and %d the rows from %d to %d', (from, to, first, last) => {
    const [group] = placed([groupOf(3)], sizes)
    expect(group && rowsBetween(group, sizes, from, to)).toEqual({ from: first, to: last })
  })

  test('shows all visible rows, and no others', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 8 }),
        fc.nat(900),
        fc.nat(300),
        (counts, from, height) => {
          for (const group of placed(counts.map(groupOf), sizes)) {
            const { from: first, to: last } = rowsBetween(group, sizes, from, from + height)
            group.heads.forEach((_, index) => {
              const top = group.top + index * sizes.row
              expect(index >= first && index < last).toBe(top + sizes.row > from && top < from + height)
            })
          }
        },
      ),
    )
  })
})
