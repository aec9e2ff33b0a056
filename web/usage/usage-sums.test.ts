import { describe, expect, test } from 'bun:test'
import type { UsageEntry } from '../../src/http/page/page-api.ts'
import { chartData, groupSums, sumOf, usageQuery, usageRanges } from './usage-sums.ts'

const now = Date.UTC(2026, 10, 23, 12, 30)
const [day, week] = usageRanges

function entry(time: string, name: string, more: Partial<UsageEntry> = {}): UsageEntry {
  return { ...sumOf(name, []), time, requests: 1, ...more }
}

describe('the query of a range', () => {
  test.each([
    [day, 'unit=hour&from=2026-11-22T13:00:00Z&by=model'],
    [week, 'unit=day&from=2026-11-17&by=model'],
  ])('%p', (range, query) => {
    expect(usageQuery(range, 'model', now)).toBe(query)
  })
})

describe('sums', () => {
  test('are by name, the dearest first, then the busiest', () => {
    const rows = [
      entry('2026-11-22', 'a', { cost: 1 }),
      entry('2026-11-23', 'b', { cost: 3 }),
      entry('2026-11-23', 'a', { cost: 1, unpriced: 2 }),
      entry('2026-11-23', 'c', { requests: 9 }),
    ]
    expect(groupSums(rows)).toMatchObject([
      { name: 'b', cost: 3 },
      { name: 'a', cost: 2, requests: 2, unpriced: 2 },
      { name: 'c', requests: 9 },
    ])
  })
})

describe('the chart', () => {
  const options = { measure: 'requests', now, groupsMax: 1 } as const

  test('has each day of the range, the largest groups, and all others', () => {
    const rows = [
      entry('2026-11-23', 'a', { requests: 5 }),
      entry('2026-11-21', 'b', { requests: 2 }),
      entry('2026-11-21', 'c', { requests: 1 }),
    ]
    const { times, series } = chartData(rows, week, options)
    expect(times.map((time) => new Date(time).toISOString().slice(5, 10))).toEqual([
      '11-17',
      '11-18',
      '11-19',
      '11-20',
      '11-21',
      '11-22',
      '11-23',
    ])
    expect(series).toEqual([
      { name: 'a', values: [0, 0, 0, 0, 0, 0, 5] },
      { name: undefined, values: [0, 0, 0, 0, 3, 0, 0] },
    ])
  })

  test('names a single other group, and has none without a value', () => {
    const rows = [entry('2026-11-23', 'a', { requests: 5 }), entry('2026-11-23', 'b', { requests: 2 })]
    const names = (more: readonly UsageEntry[]) =>
      chartData([...rows, ...more], week, options).series.map(({ name }) => name)
    expect(names([entry('2026-11-23', 'c', { cost: 1, requests: 0 })])).toEqual(['a', 'b'])
    expect(names([entry('2026-11-23', 'c', { requests: 1 })])).toEqual(['a', undefined])
  })

  test('has hours, also of zones at half hours', () => {
    const { times, series } = chartData([entry('2026-11-23T11:30:00.000Z', 'a', { cost: 2 })], day, {
      ...options,
      measure: 'cost',
    })
    expect([times.length, times.at(-1)]).toEqual([24, Date.UTC(2026, 10, 23, 12)])
    expect(series[0]?.values.at(-2)).toBe(2)
  })

  test('ends with tomorrow where that has begun, and is empty without use', () => {
    expect(chartData([entry('2026-11-24', 'a')], week, options).times.at(-1)).toBe(Date.UTC(2026, 10, 24))
    expect(chartData([], week, options)).toMatchObject({ series: [] })
  })
})
