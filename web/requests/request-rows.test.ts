import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addRequests, newSince } from './request-rows.ts'
import { requestEntry } from './testing.ts'

describe('rows', () => {
  test('are newest first', () => {
    const rows = addRequests(addRequests([], [requestEntry({ id: 'one' }), requestEntry({ id: 'two' })]), [
      requestEntry({ id: 'three' }),
    ])
    expect(rows.map(({ request }) => request.id)).toEqual(['three', 'two', 'one'])
  })

  test('keep their keys when others arrive, and after a reconnection', () => {
    const first = [requestEntry({ time: 1, id: 'one' }), requestEntry({ time: 2, id: 'two' })]
    const rows = addRequests([], first),
      later = addRequests(rows, [requestEntry({ time: 3, id: 'three' })])
    expect(later.slice(1)).toEqual([...rows])
    expect(addRequests([], [...first, requestEntry({ time: 3, id: 'three' })])).toEqual(later)
  })

  test('are the same value when nothing arrived', () => {
    const rows = addRequests([], [requestEntry()])
    expect(addRequests(rows, [])).toBe(rows)
  })

  test('are at most 1,000 with unique keys, for any request ids', () => {
    const requests = fc.array(fc.record({ time: fc.constantFrom(1, 2), id: fc.constantFrom('a', 'a 2', 'b') }), {
      maxLength: 700,
    })
    fc.assert(
      fc.property(requests, requests, (first, second) => {
        const rows = addRequests(addRequests([], first.map(requestEntry)), second.map(requestEntry))
        expect(rows).toHaveLength(Math.min(1_000, first.length + second.length))
        expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
      }),
      { numRuns: 30 },
    )
  })
})

test('newSince returns rows after the shown ones, also after a reconnection', () => {
  const first = [requestEntry({ time: 1, id: 'one' }), requestEntry({ time: 2, id: 'two' })]
  const shown = addRequests([], first),
    later = addRequests([], [...first, requestEntry({ time: 1, id: 'slow' })])
  expect(newSince(later, shown).map(({ request }) => request.id)).toEqual(['slow'])
  expect(newSince(shown, shown)).toEqual([])
  expect(newSince(later, [])).toEqual(later)
})
