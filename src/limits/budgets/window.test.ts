import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { moneyPeriods, type MoneyPeriod } from '../access-policy.ts'
import { localTime, windowsOf } from './window.ts'

function bounds(period: MoneyPeriod, zone: string, now: string): readonly string[] {
  const { start, end } = windowsOf(period, zone)(Date.parse(now))
  return [new Date(start).toISOString(), new Date(end).toISOString()]
}

const hourMs = 3_600_000
const zones = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/New_York']

describe('a window', () => {
  test.each([
    ['day', 'UTC', '2026-11-23T12:00:00Z', '2026-11-23T00:00:00.000Z', '2026-11-24T00:00:00.000Z'],
    ['day', 'Europe/Berlin', '2026-11-23T23:30:00Z', '2026-11-23T23:00:00.000Z', '2026-11-24T23:00:00.000Z'],
    ['day', 'Asia/Kolkata', '2026-11-23T18:29:59Z', '2026-11-22T18:30:00.000Z', '2026-11-23T18:30:00.000Z'],
    ['day', 'Asia/Kathmandu', '2026-11-23T18:15:00Z', '2026-11-23T18:15:00.000Z', '2026-11-24T18:15:00.000Z'],
    ['day', 'Australia/Lord_Howe', '2026-11-23T13:00:00Z', '2026-11-23T13:00:00.000Z', '2026-11-24T13:00:00.000Z'],
    ['week', 'Europe/Berlin', '2026-11-29T22:59:59Z', '2026-11-22T23:00:00.000Z', '2026-11-29T23:00:00.000Z'],
    ['month', 'Asia/Kolkata', '2026-11-30T18:30:00Z', '2026-11-30T18:30:00.000Z', '2026-12-31T18:30:00.000Z'],
    ['month', 'UTC', '2028-02-29T23:59:59Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['year', 'Europe/Berlin', '2026-12-31T23:00:00Z', '2026-12-31T23:00:00.000Z', '2027-12-31T23:00:00.000Z'],
  ] as const)('of a %s in %s at %s is from %s to before %s', (period, zone, now, start, end) => {
    expect(bounds(period, zone, now)).toEqual([start, end])
  })

  test.each([
    ['Europe/Berlin', '2026-03-29T12:00:00Z', 23],
    ['Europe/Berlin', '2026-10-25T12:00:00Z', 25],
    ['Australia/Lord_Howe', '2026-04-05T02:00:00Z', 24.5],
    ['Australia/Lord_Howe', '2026-10-04T02:00:00Z', 23.5],
    ['Asia/Kathmandu', '2026-03-29T12:00:00Z', 24],
  ])('of a day in %s at %s has %d hours, with summer time', (zone, now, hours) => {
    const { start, end } = windowsOf('day', zone)(Date.parse(now))
    expect((end - start) / hourMs).toBe(hours)
  })

  test('begins at the first instant of a day whose midnight does not exist', () => {
    // Cairo's clocks go from 00:00 to 01:00.
    expect(bounds('day', 'Africa/Cairo', '2026-04-24T12:00:00Z')[0]).toBe('2026-04-23T22:00:00.000Z')
  })

  test('is the older one again after the clock is set back, and the next one after it is set forward', () => {
    const find = windowsOf('day', 'Europe/Berlin')
    const noon = Date.parse('2026-11-23T11:00:00Z')
    const today = find(noon)
    const tomorrow = find(today.end)
    expect(tomorrow.start).toBe(today.end)
    expect(find(today.end - 1)).toEqual(today)
    expect(find(noon - 13 * hourMs)).toEqual({ start: today.start - 24 * hourMs, end: today.start })
    expect(find(noon)).toEqual(today)
  })

  test('is computed once', () => {
    const find = windowsOf('month', 'Asia/Kathmandu')
    const now = Date.parse('2026-11-23T11:00:00Z')
    expect(find(now)).toBe(find(now + 24 * hourMs))
  })

  test('of the total has no end', () => {
    expect(windowsOf('total', 'UTC')(Date.now())).toEqual({ start: 0, end: Infinity })
  })

  test('has its instant, and the windows of a period have neither gaps nor overlaps', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...moneyPeriods.filter((period) => period !== 'total')),
        fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2035-01-01') }),
        (zone, period, now) => {
          const find = windowsOf(period, zone)
          const { start, end } = find(now)
          expect(start <= now && now < end).toBe(true)
          expect(find(start - 1).end).toBe(start)
          expect(find(end).start).toBe(end)
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('a time zone', () => {
  test('names an instant in its local time', () => {
    expect(localTime(Date.parse('2026-11-23T23:00:00Z'), 'Europe/Berlin')).toBe('2026-11-24 00:00 (Europe/Berlin)')
  })
})
