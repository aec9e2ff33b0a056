import { locale } from '../texts/locale.ts'

const minute = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' })

/** Local time: `12:03`. */
export function formatMinute(time: number): string {
  return minute.format(time)
}
