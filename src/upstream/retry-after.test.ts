import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { limitWait, namedWait, waitInError } from './retry-after.ts'

const now = Date.UTC(2026, 0, 2, 3, 4, 5)
const none: ReadonlyMap<string, string> = new Map()
const headerWait = (headers: ReadonlyMap<string, string>, nowMs: number) =>
  namedWait({ headers, members: none, texts: [] }, nowMs)
const after = (text: string, others: Readonly<Record<string, string>> = {}) =>
  headerWait(new Map(Object.entries({ 'retry-after': text, ...others })), now)

describe('a wait in headers', () => {
  test.each([
    ['0', 0],
    ['1', 1000],
    [' 20 ', 20_000],
    ['1.5', 1500],
    ['0.0004', 1],
    ['600', 600_000],
    ['601', 601_000],
    ['99999999999999999999', 86_400_000],
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
    ['Fri, 02 Jan 2027 03:04:05 GMT', 86_400_000],
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
    expect(headerWait(new Map([['retry-after-ms', '9e9']]), now)).toBeUndefined()
    expect(headerWait(new Map(), now)).toBeUndefined()
  })

  test('returns 0 to 24 hours or nothing, for any input', () => {
    const text = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.date().map((date) => (Number.isNaN(date.getTime()) ? '' : date.toUTCString())),
      fc.nat().map(String),
    )
    fc.assert(
      fc.property(text, text, text, fc.nat(), (retryAfter, milliseconds, date, clock) => {
        const found = headerWait(
          new Map([
            ['retry-after', retryAfter],
            ['retry-after-ms', milliseconds],
            ['date', date],
          ]),
          clock,
        )
        expect(found === undefined || (Number.isInteger(found) && found >= 0 && found <= 86_400_000)).toBeTrue()
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

describe('a wait in the text of an error', () => {
  test.each([
    ['Please try again in 6ms.', 6],
    ['Please try again in 20s.', 20_000],
    ['Limit 3, used 3. Please try again in 9m38.016s. Need more?', 578_016],
    ['Your quota will reset after 8h44m7s.', 31_447_000],
    ['Resets in 9h22m20s.', 33_740_000],
    ['Please retry after 86400 seconds.', 86_400_000],
    ['Please wait 5631 seconds before retrying.', 5_631_000],
    ['try again after 1 seconds', 1_000],
    ['Retry in 2 minutes and 5 seconds', 125_000],
    ['It is available again in 3 days', 86_400_000],
    ['请在 30 秒后重试', 30_000],
    ['It will reset at 2026-09-23 23:59:59 +0800 CST', undefined],
    ['您的限额将在 2026-08-25 07:41:44 重置。', undefined],
    ['Rate limit of 50 per 86400s exceeded', undefined],
    ['The request took 30 seconds', undefined],
    ['Try again later, at most 3 times', undefined],
    ['', undefined],
  ])('%j is %p', (text, expected) => {
    expect(waitInError({ members: none, texts: [text] }, now)).toBe(expected)
  })

  test('is found quickly in a long one', () => {
    const started = performance.now()
    for (const text of ['try again ', 'retry 1', '1h', '1 ', 'wait1m1m'])
      waitInError({ members: none, texts: [text.repeat(2048 / text.length)] }, now)
    expect(performance.now() - started).toBeLessThan(200)
  })
})

describe('a wait in a member of an error', () => {
  test.each([
    ['retrydelay', '34.4s', 34_400],
    ['retrydelay', '0.0001s', 1],
    ['retrydelay', '5', undefined],
    ['retrydelay', '-1s', undefined],
    ['quotaresetdelay', '8h44m7.1s', 31_447_100],
    ['retry_after', '7', 7_000],
    ['retry_after_ms', '1500', 1_500],
    ['resets_in_seconds', '3600', 3_600_000],
    ['x-ratelimit-reset', String(now + 40_000), 40_000],
    ['retrydelay', '99999999999999s', undefined],
  ])('%s %j is %p', (name, value, expected) => {
    expect(waitInError({ members: new Map([[name, value]]), texts: [] }, now)).toBe(expected)
  })

  test('counts before headers, and headers before texts', () => {
    const headers = new Map([['retry-after', '9']])
    const texts = ['try again in 20s']
    expect(namedWait({ headers, members: new Map([['retrydelay', '3s']]), texts }, now)).toBe(3_000)
    expect(namedWait({ headers, members: none, texts }, now)).toBe(9_000)
    expect(namedWait({ headers: none, members: none, texts }, now)).toBe(20_000)
  })
})

describe('the reset of a rate limit', () => {
  test.each<readonly [string, Readonly<Record<string, string>>, number | undefined]>([
    ['a duration', { 'x-ratelimit-reset-requests': '1m30.5s' }, 90_500],
    ['seconds', { 'x-ratelimit-reset-tokens-minute': '12.5' }, 12_500],
    ['Unix seconds', { 'x-ratelimit-reset-requests': String(now / 1000 + 60) }, 60_000],
    ['Unix milliseconds', { 'x-ratelimit-reset': String(now + 60_000) }, 60_000],
    ['a date with a zone', { 'x-ratelimit-reset': '2026-01-02T04:05:05+01:00' }, 60_000],
    ['a date without a zone', { 'x-ratelimit-reset': '2026-01-02T03:05:05' }, undefined],
    [
      'the used up one of two',
      {
        'x-ratelimit-reset-requests': '9s',
        'x-ratelimit-reset-tokens': '40s',
        'x-ratelimit-remaining-tokens': '0',
      },
      40_000,
    ],
    [
      'the shortest, if none is used up',
      { 'x-ratelimit-reset-requests': '9s', 'x-ratelimit-reset-tokens': '4s' },
      4_000,
    ],
    ['nonsense', { 'x-ratelimit-reset': 'soon' }, undefined],
    ['nothing', {}, undefined],
  ])('is read as %s', (_, headers, expected) => {
    expect(limitWait(new Map(Object.entries(headers)), now)).toBe(expected)
  })
})
