import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { MinuteSums } from '../../src/observe/request-entry.ts'
import { hourFigures, lastHour, mergeMinutes, quantile } from './minutes.ts'
import { requestEntry } from './testing.ts'

const minuteMs = 60_000
const now = Date.UTC(2026, 0, 2, 3, 4, 5)
const thisMinute = Date.UTC(2026, 0, 2, 3, 4)

function minute(ago: number, more: Partial<MinuteSums> = {}): MinuteSums {
  return { time: thisMinute - ago * minuteMs, requests: 1, errors: 0, promptTokens: 2, completionTokens: 3, ...more }
}

describe('the last hour', () => {
  test('has an entry for every minute, the newest last', () => {
    const hour = lastHour([minute(0), minute(59, { requests: 7 })], now)
    expect(hour).toHaveLength(60)
    expect(hour[0]).toEqual(minute(59, { requests: 7 }))
    expect(hour[1]).toEqual({
      time: thisMinute - 58 * minuteMs,
      requests: 0,
      errors: 0,
      promptTokens: 0,
      completionTokens: 0,
    })
    expect(hour[59]).toEqual(minute(0))
  })

  test('leaves out older minutes', () => {
    expect(lastHour([minute(60)], now).every(({ requests }) => requests === 0)).toBe(true)
  })
})

describe('merged minutes', () => {
  test('replace changed ones, and stay in order', () => {
    expect(mergeMinutes([minute(2), minute(1)], [minute(1, { requests: 5 }), minute(0)])).toEqual([
      minute(2),
      minute(1, { requests: 5 }),
      minute(0),
    ])
  })

  test('are the same value when nothing changed', () => {
    const known = [minute(1)]
    expect(mergeMinutes(known, [])).toBe(known)
  })

  test('are never more than an hour, and ascend', () => {
    const some = fc.array(
      fc.integer({ min: 0, max: 200 }).map((ago) => minute(ago)),
      { maxLength: 100 },
    )
    fc.assert(
      fc.property(some, some, (known, changed) => {
        const times = mergeMinutes(mergeMinutes([], known), changed).map(({ time }) => time)
        expect(times.length).toBeLessThanOrEqual(60)
        expect(times).toEqual([...new Set(times)].toSorted((left, right) => left - right))
      }),
    )
  })
})

describe('the figures of an hour', () => {
  test('are sums of its minutes, and quantiles of its requests', () => {
    const hour = lastHour([minute(3, { requests: 3, errors: 1 }), minute(0)], now)
    const requests = [100, 300, 200].map((firstTokenMs) => requestEntry({ time: now, firstTokenMs, cost: 0.5 }))
    const unpriced = requestEntry({ time: now, provider: 'a', promptTokens: 1, completionTokens: 1 })
    expect(hourFigures(hour, [...requests, unpriced])).toEqual({
      requests: 4,
      errors: 1,
      errorShare: 0.25,
      promptTokens: 4,
      completionTokens: 6,
      firstTokenP95: 300,
      cost: 1.5,
      unpriced: 1,
      isPartial: false,
      isEstimated: false,
    })
  })

  test('have no shares, times and cost without requests', () => {
    expect(hourFigures(lastHour([], now), [])).toEqual({
      requests: 0,
      errors: 0,
      promptTokens: 0,
      completionTokens: 0,
      unpriced: 0,
      isPartial: false,
      isEstimated: false,
    })
  })

  test('are estimates if some of their minutes are', () => {
    expect(hourFigures(lastHour([minute(0), minute(3, { isEstimated: true })], now), []).isEstimated).toBe(true)
  })

  test('leave out older requests, and are partial if some are forgotten', () => {
    const hour = lastHour([minute(0, { requests: 2 })], now)
    const before = requestEntry({ time: now - 3_600_000, firstTokenMs: 9_000, cost: 9 })
    expect(hourFigures(hour, [before, requestEntry({ time: now, firstTokenMs: 1 })])).toMatchObject({
      firstTokenP95: 1,
      isPartial: true,
    })
  })
})

test('a quantile is a value with that share of values at or below it', () => {
  expect(quantile([], 0.5)).toBeUndefined()
  fc.assert(
    fc.property(
      fc.array(fc.double({ noNaN: true }), { minLength: 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (values, share) => {
        const found = quantile(values, share) ?? NaN
        expect(values.includes(found)).toBe(true)
        expect(values.filter((value) => value <= found).length).toBeGreaterThanOrEqual(
          Math.floor(share * values.length),
        )
      },
    ),
  )
})
