import type { MoneyPeriod } from '../access-policy.ts'

/** A span of time, from its start to before its end, in Unix milliseconds. Its start is its name. */
export interface Window {
  readonly start: number
  /** `Infinity` for `total`. */
  readonly end: number
}

/** Finds the window of an instant. @param now Unix milliseconds */
export type WindowOf = (now: number) => Window

const total: Window = { start: 0, end: Infinity }
const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Longer than the largest difference between a zone and UTC. */
const zoneMsMax = 26 * hourMs

/**
 * The windows of a period in a time zone: whole local days, weeks from Monday, months or years. The bounds are computed
 * once for each window; after that an instant is compared with two numbers.
 *
 * @param zone an IANA time zone
 * @throws {RangeError} for an unknown zone
 */
export function windowsOf(period: MoneyPeriod, zone: string): WindowOf {
  if (period === 'total') return () => total
  const dateOf = localDates(zone)
  let known: Window = { start: 0, end: 0 }
  return (now) => {
    if (now >= known.start && now < known.end) return known
    const [first, next] = datesOf(period, dateOf(now))
    known = { start: startOf(first, dateOf), end: startOf(next, dateOf) }
    return known
  }
}

/** A date of the calendar, as the milliseconds of its midnight in UTC. */
type LocalDate = number

function localDates(zone: string): (instant: number) => LocalDate {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  })
  return (instant) => {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
    for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value)
    return Date.UTC(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day ?? 1)
  }
}

/** The first date of the window with this date, and of the window after it. */
function datesOf(period: Exclude<MoneyPeriod, 'total'>, date: LocalDate): readonly [LocalDate, LocalDate] {
  const day = new Date(date)
  const year = day.getUTCFullYear()
  const month = day.getUTCMonth()
  switch (period) {
    case 'day':
      return [date, date + dayMs]
    case 'week': {
      const monday = date - ((day.getUTCDay() + 6) % 7) * dayMs
      return [monday, monday + 7 * dayMs]
    }
    case 'month':
      return [Date.UTC(year, month), Date.UTC(year, month + 1)]
    case 'year':
      return [Date.UTC(year, 0), Date.UTC(year + 1, 0)]
  }
}

/** The first instant of a local date, also where its midnight does not exist. */
function startOf(date: LocalDate, dateOf: (instant: number) => LocalDate): number {
  let before = date - zoneMsMax
  let reached = date + zoneMsMax
  while (reached - before > 1) {
    const middle = Math.floor((before + reached) / 2)
    if (dateOf(middle) < date) before = middle
    else reached = middle
  }
  return reached
}

/** An instant as people of the zone write it, such as `2026-11-24 00:00 (Europe/Berlin)`. */
export function localTime(instant: number, zone: string): string {
  const text = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(
    instant,
  )
  return `${text} (${zone})`
}
