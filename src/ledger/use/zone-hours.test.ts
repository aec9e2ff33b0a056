import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { zoneHours } from './zone-hours.ts'

const hourMs = 3_600_000
const at = (text: string): number => Date.parse(text)

/** The local date by another way: Intl's own. */
function localDay(zone: string, time: number): number {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(time)
  return Number(parts.replaceAll('-', ''))
}

const zones = [
  'UTC',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'America/St_Johns',
  'America/Havana',
  'Pacific/Apia',
] as const

describe('hours of a time zone', () => {
  test.each(zones)('%s › each time is in one hour, which ends where the next begins', (zone) => {
    const hours = zoneHours(zone)
    fc.assert(
      fc.property(fc.integer({ min: at('2011-12-25T00:00:00Z'), max: at('2027-12-31T00:00:00Z') }), (time) => {
        const { start, end, day } = hours.at(time)
        expect(start <= time && time < end && end - start <= hourMs).toBe(true)
        expect(hours.at(end).start).toBe(end)
        expect(hours.at(start - 1).end).toBe(start)
        expect(day).toBe(localDay(zone, time))
        for (const inside of [start, end - 1]) expect(localDay(zone, inside)).toBe(day)
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['Asia/Kolkata', '2026-03-01T10:40:00Z', '2026-03-01T10:30:00Z'],
    ['Asia/Kathmandu', '2026-03-01T10:40:00Z', '2026-03-01T10:15:00Z'],
    // 02:00 becomes 02:30: the hour is 30 minutes long.
    ['Australia/Lord_Howe', '2026-10-03T15:40:00Z', '2026-10-03T15:30:00Z'],
    // 03:00 becomes 02:00: the second 02:00 is an hour of its own.
    ['Europe/Berlin', '2026-10-25T01:10:00Z', '2026-10-25T01:00:00Z'],
  ])('%s › begin at full local hours, and at a change of the clock: %s', (zone, time, start) => {
    expect(zoneHours(zone).at(at(time)).start).toBe(at(start))
  })

  test.each([
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['Asia/Kolkata', '2026-10-25', 24],
    ['Australia/Lord_Howe', '2026-10-04', 23.5],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
  ])('%s › the day %s has %p hours', (zone, date, expected) => {
    const hours = zoneHours(zone)
    const day = Number(date.replaceAll('-', ''))
    let length = 0
    for (let time = at(`${date}T00:00:00Z`) - 15 * hourMs; time < at(`${date}T00:00:00Z`) + 30 * hourMs;) {
      const hour = hours.at(time)
      if (hour.day === day) length += hour.end - hour.start
      time = hour.end
    }
    expect(length / hourMs).toBe(expected)
  })

  test('of an unknown zone are refused', () => {
    expect(() => zoneHours('Europe/Nowhere')).toThrow(RangeError)
  })
})
