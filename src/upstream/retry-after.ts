import type { ResponseHeaders } from '../transport/transport.ts'

/** Longer waits are shortened to this (failover.md "Retry-After"). */
export const retryAfterMaxMs = 600_000

/**
 * Returns the wait that an upstream asks for, in milliseconds from now: `retry-after-ms`, Azure's
 * `x-ms-retry-after-ms`, or `retry-after` in seconds or as an HTTP date. A date is compared with the upstream's own
 * `date` header, if there is one (RFC 9110 sections 5.6.7 and 10.2.3; failover.md "Retry-After"). At most 600,000; 0
 * for a past date; undefined without a valid header.
 *
 * @param headers names in lower case
 * @param nowMs Unix time
 */
export function parseRetryAfter(headers: Pick<ResponseHeaders, 'get'>, nowMs: number): number | undefined {
  const milliseconds = parseDecimal(headers.get('retry-after-ms') ?? headers.get('x-ms-retry-after-ms'))
  if (milliseconds !== undefined) return clamp(milliseconds)
  const text = headers.get('retry-after')
  const seconds = parseDecimal(text)
  if (seconds !== undefined) return clamp(seconds * 1000)
  const until = parseHttpDate(text)
  if (until === undefined) return undefined
  return clamp(until - (parseHttpDate(headers.get('date')) ?? nowMs))
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
  return Math.min(Math.max(Math.ceil(milliseconds), 0), retryAfterMaxMs)
}
