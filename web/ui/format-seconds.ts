import { language } from '../texts/locale.ts'

/** `5 s`, `1 min 5 s`. */
export function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** `340 ms`, `2.1 s`, `1 min 5 s`. */
export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 59_950 ? `${tenths.format(ms / 1_000)} s` : formatSeconds(Math.round(ms / 1_000))
}

const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
