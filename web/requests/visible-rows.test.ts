import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { piecesOf, visibleRows } from './visible-rows.ts'

describe('visible rows', () => {
  test.each([
    [
      { top: 200, height: 800, rowHeight: 40 },
      { first: 0, last: 15 },
    ],
    [
      { top: -4_000, height: 800, rowHeight: 40 },
      { first: 100, last: 120 },
    ],
    [
      { top: -39_900, height: 800, rowHeight: 40 },
      { first: 997, last: 1_000 },
    ],
    [
      { top: 5_000, height: 800, rowHeight: 40 },
      { first: 0, last: 0 },
    ],
    [
      { top: -90_000, height: 800, rowHeight: 40 },
      { first: 1_000, last: 1_000 },
    ],
  ])('%p are %p', (visible, rendered) => {
    expect(visibleRows(1_000, visible, 0)).toEqual(rendered)
  })

  test('include some on either side', () => {
    expect(visibleRows(1_000, { top: -4_000, height: 800, rowHeight: 40 }, 5)).toEqual({ first: 95, last: 125 })
  })
})

describe('pieces', () => {
  test('keep the row with the focus at any position', () => {
    expect(piecesOf(10, { first: 4, last: 6 }, 1)).toEqual([
      { kind: 'gap', rows: 1 },
      { kind: 'row', index: 1 },
      { kind: 'gap', rows: 2 },
      { kind: 'row', index: 4 },
      { kind: 'row', index: 5 },
      { kind: 'gap', rows: 4 },
    ])
  })

  test('cover every row in order, including the visible ones', () => {
    const lists = fc.record({
      count: fc.nat(50),
      a: fc.nat(50),
      b: fc.nat(50),
      kept: fc.option(fc.integer({ min: -1, max: 60 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(lists, ({ count, a, b, kept }) => {
        const first = Math.min(a, b, count),
          last = Math.min(Math.max(a, b), count)
        const rendered: number[] = []
        let place = 0
        for (const piece of piecesOf(count, { first, last }, kept)) {
          if (piece.kind === 'row') {
            expect(piece.index).toBe(place)
            rendered.push(piece.index)
          }
          place += piece.kind === 'gap' ? piece.rows : 1
        }
        expect(place).toBe(count)
        for (let index = first; index < last; index++) expect(rendered).toContain(index)
        if (kept !== undefined && kept >= 0 && kept < count) expect(rendered).toContain(kept)
      }),
    )
  })
})
