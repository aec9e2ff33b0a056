import { locale } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import type { UsageRange } from './usage-sums.ts'

const dayMs = 86_400_000
// Days are dates of the service's time zone, given as midnights in UTC.
const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })

/** The span of a range, such as `in the last 7 days`. */
export function spanOf({ unit, count, last }: UsageRange): string {
  if (last !== undefined) return say.usage.inLast.dates(date.format(last - (count - 1) * dayMs), date.format(last))
  return unit === 'hour' ? say.usage.inLast.hours(count) : say.usage.inLast.days(count)
}

/** The text alternative of a chart, such as `Cost by day, in the last 7 days: $3.00.` */
export function summaryOf(title: string, range: UsageRange, words: string): string {
  return `${title}, ${spanOf(range)}: ${words}.`
}
