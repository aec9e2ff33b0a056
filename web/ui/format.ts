/** Formats of numbers and times. */

/** `340 ms`, `2.1 s`, `1 min 5 s`. */
export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const counts = new Intl.NumberFormat('en')
const shortCounts = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** `12,345`. */
export function formatCount(count: number): string {
  return counts.format(count)
}

/** `12.3K`. */
export function formatShortCount(count: number): string {
  return shortCounts.format(count)
}

/** USD: `$0.0012`, `$1.50`; `<$0.00001` below a hundred-thousandth. */
export function formatCost(usd: number): string {
  if (usd === 0) return '$0'
  if (usd < 0.00001) return '<$0.00001'
  if (usd >= 0.1) return `$${usd.toFixed(2)}`
  const digits = Math.min(5, 1 - Math.floor(Math.log10(usd)))
  return `$${usd.toFixed(digits)}`
}

/** Marks an estimate: `≈12`. */
export function markEstimate(text: string, isEstimated: boolean | undefined): string {
  return isEstimated === true ? `≈${text}` : text
}

/** `98 %` for 0.98. `100 %` and `0 %` only if exact. */
export function formatShare(share: number): string {
  const rounded = Math.round(share * 100)
  if (share > 0 && rounded === 0) return '<1 %'
  return share < 1 && rounded === 100 ? '>99 %' : `${rounded} %`
}

/** A code as words: `rate_limit` becomes `rate limit`. Sentences stay as they are. */
export function inWords(name: string): string {
  return /^[a-z0-9_]+$/.test(name) ? name.replaceAll('_', ' ') : name
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** Local time: `12:03:10`. */
export function formatTime(time: number): string {
  return clock.format(time)
}

/** Local date and time. */
export function formatMoment(time: number): string {
  return dateAndTime.format(time)
}

/** `now`, `5 s ago`, `2 min ago`, `3 h ago`, `4 d ago`. */
export function formatAgo(time: number, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - time) / 1_000))
  if (seconds < 2) return 'now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`
}
