import { describe, expect, test } from 'bun:test'
import type { Measurement } from './measures/measure.ts'
import { formatNumber, formatSummary, markdownTable, measureSection, verdictTable } from './table.ts'
import { judge, targets } from './targets.ts'

describe('markdownTable', () => {
  test('aligns its columns', () => {
    expect(
      markdownTable(
        ['', 'µs'],
        [
          ['nginx', '28.1'],
          ['svc', '5'],
        ],
      ),
    ).toBe(['|       |   µs |', '| ----- | ---: |', '| nginx | 28.1 |', '| svc   |    5 |'].join('\n'))
  })
})

describe('formatNumber', () => {
  test.each([
    { value: 0, expected: '0' },
    { value: 0.12345, expected: '0.123' },
    { value: 4.567, expected: '4.57' },
    { value: 78.94, expected: '78.9' },
    { value: 123.4, expected: '123' },
    { value: 45678, expected: '45,678' },
    { value: -4.567, expected: '-4.57' },
  ])('writes $value as $expected', ({ value, expected }) => {
    expect(formatNumber(value)).toBe(expected)
  })
})

describe('formatSummary', () => {
  test.each([
    { summary: undefined, expected: '–' },
    { summary: { median: 5, min: 5, max: 5, count: 1 }, expected: '5.00' },
    { summary: { median: 5, min: 5, max: 5, count: 2 }, expected: '5.00' },
    { summary: { median: 5, min: 4, max: 6.5, count: 3 }, expected: '5.00 (4.00–6.50)' },
  ])('writes $expected', ({ summary, expected }) => {
    expect(formatSummary(summary)).toBe(expected)
  })
})

const measurements: readonly Measurement[] = [
  { measure: 'latency', round: 1, proxy: 'direct', metric: 'p50Us', value: 20 },
  { measure: 'latency', round: 1, proxy: 'nginx', metric: 'p50Us', value: 220 },
  { measure: 'latency', round: 1, proxy: 'svc', metric: 'p50Us', value: 320 },
]

describe('measureSection', () => {
  const section = measureSection('latency', ['direct', 'nginx', 'haproxy', 'svc'], measurements)

  test('has a row for each proxy with figures', () => {
    const names = section
      .split('\n')
      .slice(4)
      .map((row) => row.split('|')[1]?.trim())
    expect(names).toEqual(['direct', 'nginx', '**svc**'])
  })

  test('compares with nginx', () => {
    const row = section.split('\n').find((line) => line.includes('svc')) ?? ''
    expect(row.split('|').map((cell) => cell.trim())).toEqual(['', '**svc**', '320', '300', '1.50', '–', '–', ''])
  })
})

const firstTokens: readonly Measurement[] = [
  { measure: 'first-token', round: 1, proxy: 'direct', metric: 'p50Us', value: 100 },
  { measure: 'first-token', round: 1, proxy: 'svc', metric: 'p50Us', value: 300 },
]

describe('verdictTable', () => {
  test('shows each target with its figure', () => {
    const table = verdictTable(targets.map((target) => judge(target, firstTokens)))
    expect(table.split('\n')).toHaveLength(targets.length + 2)
    expect(table).toMatch(/first token, added to direct +\| +≤ 0\.25 ms \| +0\.200 \| +met \|/)
  })
})
