import { describe, expect, test } from 'bun:test'
import { formatAgo, formatCost, formatCount, formatMs, formatShortCount } from './format.ts'

describe('how things are written', () => {
  test.each([[0, '0 ms'], [0.4, '0 ms'], [999, '999 ms'], [1_000, '1.0 s'], [59_940, '59.9 s'], [59_960, '1 min 0 s'], [65_000, '1 min 5 s'], [3_600_000, '60 min 0 s']])('%d milliseconds are %s', (ms, text) => {
    expect(formatMs(ms)).toBe(text)
  })

  test.each([[0, '$0'], [0.000001, '<$0.00001'], [0.00001, '$0.00001'], [0.0012, '$0.0012'], [0.01234, '$0.012'], [0.5, '$0.50'], [12.345, '$12.35']])('%d dollars are %s', (usd, text) => {
    expect(formatCost(usd)).toBe(text)
  })

  test.each([[0, 'now'], [-5_000, 'now'], [5_000, '5 s ago'], [119_000, '1 min ago'], [7_200_000, '2 h ago'], [200_000_000, '2 d ago']])('%d milliseconds before are %s', (ms, text) => {
    expect(formatAgo(1_000_000_000_000 - ms, 1_000_000_000_000)).toBe(text)
  })

  test('large numbers can be read', () => {
    expect([formatCount(1_234_567), formatShortCount(131_072), formatShortCount(999)]).toEqual(['1,234,567', '131.1K', '999'])
  })
})
