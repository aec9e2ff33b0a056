import { locale } from '../texts/locale.ts'

const dayAndTime = new Intl.DateTimeFormat(locale, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})

/** Local date and time, short: `Nov 25, 10:09 PM`. */
export function formatDay(time: number): string {
  return dayAndTime.format(time)
}

const dayAndSecond = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })

/** Local date and time, to the second: `Nov 25, 2026, 10:09:41 PM`. */
export function formatSecond(time: number): string {
  return dayAndSecond.format(time)
}

/** Whether a time is of the local day of now. */
export function isToday(time: number, now: number = Date.now()): boolean {
  return new Date(time).toDateString() === new Date(now).toDateString()
}
