import { locale } from '../texts/locale.ts'
import { formatTime } from '../ui/format.ts'

const older = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' })

/** Local time, of other days than today with the date and without seconds. */
export function formatRecent(time: number, now: number = Date.now()): string {
  return new Date(time).toDateString() === new Date(now).toDateString() ? formatTime(time) : older.format(time)
}
