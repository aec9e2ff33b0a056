import { formatCount, language, locale } from '../texts/locale.ts'
import { say } from '../texts/say.ts'

/** Formats of numbers and times. Those of an answer have files of their own, so that the chat loads no others. */

export { formatCost, markEstimate } from './format-cost.ts'
export { formatMs } from './format-seconds.ts'
export { formatCount }

const shortCounts = new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 })

/** `12.3K`. */
export function formatShortCount(count: number): string {
  return shortCounts.format(count)
}

/** `98 %` for 0.98, without a break before the sign. `100 %` and `0 %` only if exact. */
export function formatShare(share: number): string {
  const rounded = Math.round(share * 100)
  if (share > 0 && rounded === 0) return '<1\u00a0%'
  return share < 1 && rounded === 100 ? '>99\u00a0%' : `${rounded}\u00a0%`
}

/** A code as words: `rate_limit` becomes `rate limit`. Sentences stay as they are. */
export function inWords(name: string): string {
  const known = Object.hasOwn(classes, name) ? classes[name] : undefined
  return known ?? (/^[a-z0-9_]+$/.test(name) ? name.replaceAll('_', ' ') : name)
}

const classes: Readonly<Record<string, string>> = say.classes

const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const dateAndTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })

/** Local time: `12:03:10`. */
export function formatTime(time: number): string {
  return clock.format(time)
}

/** Local date and time. */
export function formatMoment(time: number): string {
  return dateAndTime.format(time)
}

const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' })

/** Local date and time with seconds and time zone. */
export function formatExactly(time: number): string {
  return exact.format(time)
}

/** `now`, `5 s ago`, `2 min ago`, `3 h ago`, `4 d ago`. */
export function formatAgo(time: number, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - time) / 1_000))
  if (seconds < 2) return say.ui.ago.now
  if (seconds < 60) return say.ui.ago.seconds(formatCount(seconds))
  if (seconds < 3_600) return say.ui.ago.minutes(formatCount(Math.floor(seconds / 60)))
  return seconds < 86_400
    ? say.ui.ago.hours(formatCount(Math.floor(seconds / 3_600)))
    : say.ui.ago.days(formatCount(Math.floor(seconds / 86_400)))
}
