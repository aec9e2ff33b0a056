import type { ResponseHeaders } from '../transport/transport.ts'

/** Longer waits are shortened to this. */
export const waitMaxMs = 86_400_000

/** Where an upstream may name a wait. */
export interface NamedWaits {
  /** Names in lower case. */
  readonly headers: Pick<ResponseHeaders, 'get'>
  /** Of the error: name in lower case → value. */
  readonly members: ReadonlyMap<string, string>
  readonly texts: readonly string[]
}

/**
 * Returns the wait that an error names in its members or texts, in milliseconds: `retryDelay` and its like, durations
 * such as `9m38.016s` and `20 seconds`. Dates in texts are not read: most have no zone. At most 24 hours.
 */
export function waitInError({ members, texts }: Omit<NamedWaits, 'headers'>, nowMs: number): number | undefined {
  for (const [name, value] of members) {
    const ms = name.startsWith('x-ratelimit-reset') ? resetWait(value, nowMs) : memberWait(name, value)
    if (ms !== undefined) return clamp(ms)
  }
  for (const text of texts) {
    const ms = textWait(text)
    if (ms !== undefined) return clamp(ms)
  }
  return undefined
}

/**
 * Returns the wait that an upstream asks for, in milliseconds from now: that of its error, `retry-after-ms`, Azure's
 * `x-ms-retry-after-ms`, or `retry-after` in seconds or as an HTTP date. A date is compared with the upstream's own
 * `date` header, if there is one (RFC 9110 sections 5.6.7 and 10.2.3; failover.md "Retry-After"). At most 24 hours; 0
 * for a past date; undefined without a valid wait.
 *
 * @param nowMs Unix time
 */
export function namedWait({ headers, members, texts }: NamedWaits, nowMs: number): number | undefined {
  return (
    waitInError({ members, texts: [] }, nowMs) ?? headerWait(headers, nowMs) ?? waitInError({ members, texts }, nowMs)
  )
}

function headerWait(headers: NamedWaits['headers'], nowMs: number): number | undefined {
  const milliseconds = parseDecimal(headers.get('retry-after-ms') ?? headers.get('x-ms-retry-after-ms'))
  if (milliseconds !== undefined) return clamp(milliseconds)
  const text = headers.get('retry-after')
  const seconds = parseDecimal(text)
  if (seconds !== undefined) return clamp(seconds * 1000)
  const until = parseHttpDate(text)
  if (until === undefined) return undefined
  return clamp(until - (parseHttpDate(headers.get('date')) ?? nowMs))
}

const limits = ['', '-requests', '-tokens', '-requests-day', '-requests-minute', '-tokens-minute', '-tokens-day']

/**
 * The wait for a rate limit by its headers, `x-ratelimit-reset-…`: the longest of the limits with nothing remaining,
 * else the shortest of all.
 */
export function limitWait(headers: NamedWaits['headers'], nowMs: number): number | undefined {
  const waits = limits.flatMap((name) => {
    const ms = resetWait(headers.get(`x-ratelimit-reset${name}`) ?? '', nowMs)
    return ms === undefined ? [] : [{ ms, isUsedUp: headers.get(`x-ratelimit-remaining${name}`)?.trim() === '0' }]
  })
  const usedUp = waits.filter(({ isUsedUp }) => isUsedUp).map(({ ms }) => ms)
  if (usedUp.length > 0) return clamp(Math.max(...usedUp))
  return waits.length === 0 ? undefined : clamp(Math.min(...waits.map(({ ms }) => ms)))
}

const unitMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }
const unit = /(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])/.source
const piece = `\\d{1,9}(?:\\.\\d{1,9})?\\s?${unit}`
const duration = `(?:${piece}[\\s,]{0,2}(?:and )?){1,5}`
const inText = new RegExp(
  `\\b(?:try(?:ing)? again|retry|wait|resets?|available again)\\b[^.\\d]{0,40}?(${duration})|(\\d{1,9})\\s?秒[后後]`,
  'i',
)

function textWait(text: string): number | undefined {
  const [, named, seconds] = inText.exec(text) ?? []
  return seconds === undefined ? durationMs(named ?? '') : Number(seconds) * 1000
}

/** Milliseconds of `34.4s`, `1h2m`, `20 seconds`. */
function durationMs(text: string): number | undefined {
  if (!new RegExp(`^${duration}$`, 'i').test(text.trim())) return undefined
  let ms = 0
  for (const [, amount, name = ''] of text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)\s?([a-z]+)/g))
    ms += Number(amount) * (unitMs[/^(?:ms|milli)/.test(name) ? 'ms' : name.slice(0, 1)] ?? 0)
  return ms
}

/** A member such as `retryDelay`; a bare number is seconds, unless the name says milliseconds. */
function memberWait(name: string, value: string): number | undefined {
  const number = name === 'retrydelay' ? undefined : parseDecimal(value)
  return number === undefined ? durationMs(value) : number * (name.endsWith('ms') ? 1 : 1000)
}

/** A reset: a duration, seconds, Unix time in seconds or milliseconds, or an ISO date with a zone. */
function resetWait(value: string, nowMs: number): number | undefined {
  const number = parseDecimal(value)
  if (number !== undefined) {
    if (number >= 1e12) return number - nowMs
    return number >= 1e9 ? number * 1000 - nowMs : number * 1000
  }
  if (!/^\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:?\d\d)$/i.test(value.trim())) return durationMs(value)
  const until = Date.parse(value.trim())
  return Number.isNaN(until) ? undefined : until - nowMs
}

/** A number of seconds or milliseconds; some upstreams send fractions. */
function parseDecimal(text: string | undefined): number | undefined {
  const trimmed = text?.trim()
  return trimmed !== undefined && /^\d+(\.\d*)?$/.test(trimmed) ? Number(trimmed) : undefined
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const imfDate = /^[a-z]{3}, (?<day>\d{2}) (?<month>[a-z]{3}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) gmt$/
const rfc850Date = /^[a-z]{6,9}, (?<day>\d{2})-(?<month>[a-z]{3})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) gmt$/
const asctimeDate = /^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/

/**
 * Unix time in milliseconds of an HTTP date in any of its three forms; undefined for anything else, such as the 31st of
 * February.
 */
function parseHttpDate(text: string | undefined): number | undefined {
  const lower = text?.trim().toLowerCase() ?? ''
  const groups = (imfDate.exec(lower) ?? rfc850Date.exec(lower) ?? asctimeDate.exec(lower))?.groups
  if (groups === undefined) return undefined
  const month = months.indexOf(groups['month'] ?? '')
  if (month === -1) return undefined
  const day = Number(groups['day'])
  const midnight = Date.UTC(fullYear(groups['year'] ?? ''), month, day)
  const time = parseTime(groups['time'] ?? '')
  if (time === undefined || new Date(midnight).getUTCDate() !== day) return undefined
  return midnight + time
}

/** RFC 9110 section 5.6.7: a two-digit year more than 50 years ahead is in the past. */
function fullYear(digits: string): number {
  const year = Number(digits)
  if (digits.length > 2) return year
  return year >= 70 ? 1900 + year : 2000 + year
}

/** Milliseconds since midnight. The second may be 60, a leap second. */
function parseTime(text: string): number | undefined {
  const [hour = 0, minute = 0, second = 0] = text.split(':').map(Number)
  if (hour > 23 || minute > 59 || second > 60) return undefined
  return ((hour * 60 + minute) * 60 + second) * 1000
}

function clamp(milliseconds: number): number {
  return Math.min(Math.max(Math.ceil(milliseconds), 0), waitMaxMs)
}
