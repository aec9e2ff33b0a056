import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseRetryAfter } from './retry-after.ts'

const now = Date.UTC(2026, 0, 2, 3, 4, 5)
const after = (text: string, others: Readonly<Record<string, string>> = {}) =>
  parseRetryAfter(new Map(Object.entries({ 'retry-after': text, ...others })), now)

describe('parseRetryAfter', () => {
  test.each([
    ['0', 0],
    ['1', 1000],
    [' 20 ', 20_000],
    ['1.5', 1500],
    ['0.0004', 1],
    ['600', 600_000],
    ['601', 600_000],
    ['99999999999999999999', 600_000],
    ['-1', undefined],
    ['+1', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['', undefined],
    ['soon', undefined],
    ['1, 2', undefined],
    ['Infinity', undefined],
    ['NaN', undefined],
    ['1 s', undefined],
    ['Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
    ['fri, 02 jan 2026 03:04:35 gmt', 30_000],
    ['Friday, 02-Jan-26 03:04:35 GMT', 30_000],
    ['Fri Jan  2 03:04:35 2026', 30_000],
    ['Fri, 02 Jan 2026 03:04:00 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Fri, 02 Jan 2027 03:04:05 GMT', 600_000],
    ['Sat, 31 Feb 2026 03:04:05 GMT', undefined],
    ['Fri, 02 Jan 2026 25:00:00 GMT', undefined],
    ['Fri, 02 Foo 2026 03:04:35 GMT', undefined],
    ['Fri, 02 Jan 2026 03:04:35 CET', undefined],
    ['2026-01-02T03:04:35Z', undefined],
    ['Fri, 00 Jan 2026 03:04:35 GMT', undefined],
  ])('reads %j as %p', (text, expected) => {
    expect(after(text)).toBe(expected)
  })

  test("reads a date against the upstream's own clock", () => {
    expect(after('Fri, 02 Jan 2026 09:00:10 GMT', { date: 'Fri, 02 Jan 2026 09:00:00 GMT' })).toBe(10_000)
    expect(after('Fri, 02 Jan 2026 03:04:35 GMT', { date: 'nonsense' })).toBe(30_000)
  })

  test('prefers milliseconds, if they are valid', () => {
    expect(after('10', { 'retry-after-ms': '250' })).toBe(250)
    expect(after('10', { 'retry-after-ms': '0.2' })).toBe(1)
    expect(after('10', { 'retry-after-ms': 'x' })).toBe(10_000)
    expect(parseRetryAfter(new Map([['retry-after-ms', '9e9']]), now)).toBeUndefined()
    expect(parseRetryAfter(new Map(), now)).toBeUndefined()
  })

  test('returns 0 to 600,000 or nothing, for any input', () => {
    const text = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.date().map((date) => (Number.isNaN(date.getTime()) ? '' : date.toUTCString())),
      fc.nat().map(String),
    )
    fc.assert(
      fc.property(text, text, text, fc.nat(), (retryAfter, milliseconds, date, clock) => {
        const found = parseRetryAfter(
          new Map([
            ['retry-after', retryAfter],
            ['retry-after-ms', milliseconds],
            ['date', date],
          ]),
          clock,
        )
        expect(found === undefined || (Number.isInteger(found) && found >= 0 && found <= 600_000)).toBeTrue()
      }),
      { numRuns: 500 },
    )
  })

  test('finds the seconds that a date is ahead', () => {
    fc.assert(
      fc.property(fc.nat(600), (seconds) => {
        expect(after(new Date(now + seconds * 1000).toUTCString())).toBe(seconds * 1000)
      }),
    )
  })
})
