import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { minuteBook, type Summed } from './minute-sums.ts'

const minuteMs = 60_000
const noon = Date.UTC(2026, 0, 1, 12)

function ended(time: number, more: Partial<Summed> = {}): Summed {
  return { time, totalMs: 0, status: 200, ...more }
}

function bookOf(...requests: readonly Summed[]) {
  const book = minuteBook()
  requests.forEach((request, index) => book.add(request, index + 1))
  return book
}

describe('the sums of a minute', () => {
  test('count requests, errors, tokens and first tokens', () => {
    const usage = { promptTokens: 10, completionTokens: 20, totalTokens: 30 }
    const book = bookOf(
      ended(noon, { usage, firstTokenMs: 100 }),
      ended(noon + 1, { usage: { promptTokens: 1, completionTokens: undefined, totalTokens: undefined } }),
      ended(noon + 2, { status: 502, error: 'provider_error' }),
      ended(noon + 3, { status: 499, error: 'client_left' }),
      ended(noon + 4, { status: 200, error: 'provider_error', firstTokenMs: 300 }),
    )
    expect(book.list(noon, 0)).toEqual([
      {
        time: noon,
        requests: 5,
        errors: 2,
        promptTokens: 11,
        completionTokens: 20,
        firstTokenP50: expect.closeTo(100, -1),
        firstTokenP95: expect.closeTo(300, -2),
      },
    ])
  })

  test('are marked when they contain estimates', () => {
    const usage = { promptTokens: 10, completionTokens: 20, totalTokens: 30 }
    expect(
      bookOf(ended(noon, { usage: { ...usage, isEstimated: true } }), ended(noon, { usage })).list(noon, 0),
    ).toMatchObject([{ promptTokens: 20, isEstimated: true }])
  })

  test('belong to the minute a request ended in', () => {
    expect(bookOf(ended(noon - 1, { totalMs: 2 * minuteMs })).list(noon + 2 * minuteMs, 0)).toMatchObject([
      { time: noon + minuteMs },
    ])
  })

  test('have no first token where nothing streamed', () => {
    expect(bookOf(ended(noon)).list(noon, 0)[0]).not.toHaveProperty('firstTokenP50')
  })

  test('leave out negative and non-finite counts', () => {
    const usage = { promptTokens: -5, completionTokens: 1e308, totalTokens: 0 }
    expect(bookOf(ended(noon, { usage }), ended(noon, { usage })).list(noon, 0)).toMatchObject([
      { promptTokens: 0, completionTokens: 0 },
    ])
  })

  test('expire after an hour', () => {
    const book = bookOf(ended(noon))
    expect(book.list(noon + 60 * minuteMs - 1, 0)).toHaveLength(1)
    expect(book.list(noon + 60 * minuteMs, 0)).toEqual([])
  })

  test('are replaced by those of the minute an hour later', () => {
    const book = bookOf(ended(noon), ended(noon), ended(noon + 60 * minuteMs))
    expect(book.list(noon + 60 * minuteMs, 0)).toMatchObject([{ time: noon + 60 * minuteMs, requests: 1 }])
  })

  test('include a request that ended slightly in the future', () => {
    expect(bookOf(ended(noon)).list(noon - 1, 0)).toHaveLength(1)
  })

  test('are hidden, and reused, when the clock was set back', () => {
    const book = bookOf(ended(noon))
    expect(book.list(noon - 600 * minuteMs, 0)).toEqual([])
    book.add(ended(noon - 600 * minuteMs), 2)
    expect(book.list(noon - 600 * minuteMs, 0)).toMatchObject([{ time: noon - 600 * minuteMs, requests: 1 }])
  })

  test('are listed after a mark', () => {
    const book = bookOf(ended(noon), ended(noon + minuteMs), ended(noon + 2 * minuteMs))
    book.add(ended(noon), 4)
    expect(book.list(noon + 3 * minuteMs, 2).map(({ time }) => (time - noon) / minuteMs)).toEqual([0, 2])
    expect(book.list(noon + 3 * minuteMs, 4)).toEqual([])
  })

  test('are at most sixty, in order, and complete, at any times', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 300 * minuteMs })), (times) => {
        const sorted = times.toSorted((one, other) => one - other)
        const now = noon + (sorted.at(-1) ?? 0)
        const listed = bookOf(...sorted.map((time) => ended(noon + time))).list(now, 0)
        expect(listed.length).toBeLessThanOrEqual(60)
        expect(listed.map(({ time }) => time)).toEqual(
          listed.map(({ time }) => time).toSorted((one, other) => one - other),
        )
        const oldest = Math.floor(now / minuteMs) * minuteMs - 59 * minuteMs
        expect(listed.reduce((sum, { requests }) => sum + requests, 0)).toBe(
          sorted.filter((time) => noon + time >= oldest).length,
        )
      }),
    )
  })
})
