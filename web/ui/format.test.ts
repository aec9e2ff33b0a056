import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatAgo, formatCost, formatCount, formatMs, formatShare, formatShortCount, inWords } from './format.ts'

describe('how things are written', () => {
  test.each([
    [0, '0 ms'],
    [0.4, '0 ms'],
    [999, '999 ms'],
    [1_000, '1.0 s'],
    [59_940, '59.9 s'],
    [59_960, '1 min 0 s'],
    [65_000, '1 min 5 s'],
    [3_600_000, '60 min 0 s'],
  ])('%d milliseconds are %s', (ms, text) => {
    expect(formatMs(ms)).toBe(text)
  })

  test.each([
    [0, '$0'],
    [0.000001, '<$0.00001'],
    [0.00001, '$0.00001'],
    [0.0012, '$0.0012'],
    [0.01234, '$0.012'],
    [0.5, '$0.50'],
    [12.345, '$12.35'],
  ])('%d dollars are %s', (usd, text) => {
    expect(formatCost(usd)).toBe(text)
  })

  test.each([
    [0, 'now'],
    [-5_000, 'now'],
    [5_000, '5 s ago'],
    [119_000, '1 min ago'],
    [7_200_000, '2 h ago'],
    [200_000_000, '2 d ago'],
  ])('%d milliseconds before are %s', (ms, text) => {
    expect(formatAgo(1_000_000_000_000 - ms, 1_000_000_000_000)).toBe(text)
  })

  test('large numbers can be read', () => {
    expect([formatCount(1_234_567), formatShortCount(131_072), formatShortCount(999)]).toEqual([
      '1,234,567',
      '131.1K',
      '999',
    ])
  })

  test('a share is never rounded to all or nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), fc.nat(5_000), (count, some) => {
        const ok = Math.min(some, count)
        expect([formatShare(ok / count) === '100\u00a0%', formatShare(ok / count) === '0\u00a0%']).toEqual([
          ok === count,
          ok === 0,
        ])
      }),
    )
  })

  test.each([
    ['rate_limit', 'rate limit'],
    ['http_2', 'http 2'],
    ['GROQ_API_KEY is not set', 'GROQ_API_KEY is not set'],
  ])('%p is said as %p', (name, words) => {
    expect(inWords(name)).toBe(words)
  })
})
