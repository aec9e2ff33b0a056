import type { FormatName } from '../../formats/ask.ts'
import { WireError } from '../../formats/error.ts'
import type { LimitAdmission } from '../../limits/admission.ts'
import type { LimitCounter } from '../../limits/counter.ts'
import type { Refused } from '../../limits/take-all.ts'

/** Longest wait after which official libraries try again by themselves. */
const retriedMsMax = 60_000

/** 429 for a request that a limit refuses (docs/limits.md). */
export function limitReached({ counter, waitMs }: Refused): WireError {
  const { kind, text } = counter.spec
  const isNever = waitMs === Number.POSITIVE_INFINITY
  const seconds = jittered(waitMs)
  const way = isNever ? 'it allows none' : `try again in ${seconds} s`
  const message = `Limit reached: ${text}; ${way}`
  const headers = {
    'x-should-retry': waitMs <= retriedMsMax ? 'true' : 'false',
    ...(isNever ? {} : { 'retry-after': String(seconds) }),
  }
  return kind === 'at_once'
    ? new WireError(429, 'rate_limit_error', 'concurrency_limit_exceeded', message, { headers })
    : new WireError(429, 'rate_limit_error', 'rate_limit_exceeded', message, { headers })
}

/** Whole seconds, at least the wait, with up to a fifth or a second more: clients must not come back all at once. */
function jittered(waitMs: number): number {
  return Math.ceil(waitMs / 1_000 + Math.random() * Math.max(1, waitMs / 5_000))
}

/** Formats whose clients read Anthropic's headers. */
const anthropicFormats: ReadonlySet<FormatName> = new Set(['messages', 'count_tokens'])

/** The state of the limits nearest to their end, as headers of an answer. */
export function limitHeaders(admission: LimitAdmission, format: FormatName): Record<string, string> {
  const now = admission.now()
  const headers: Record<string, string> = {}
  for (const kind of ['requests', 'tokens'] as const) {
    const counter = admission.nearest(kind)
    if (counter === undefined) continue
    addHeaders(headers, counter, now)
    if (anthropicFormats.has(format)) addAnthropicHeaders(headers, counter, now)
    if (admission.hasIetfHeaders) addIetfHeaders(headers, counter, now)
  }
  return headers
}

function addHeaders(headers: Record<string, string>, counter: LimitCounter, now: number): void {
  const { kind, most } = counter.spec
  headers[`x-ratelimit-limit-${kind}`] = String(most)
  headers[`x-ratelimit-remaining-${kind}`] = String(counter.remaining(now))
  headers[`x-ratelimit-reset-${kind}`] = durationText(counter.resetMs(now))
}

function addAnthropicHeaders(headers: Record<string, string>, counter: LimitCounter, now: number): void {
  const { kind, most } = counter.spec
  const name = `anthropic-ratelimit-${kind}`
  headers[`${name}-limit`] = String(most)
  headers[`${name}-remaining`] = String(counter.remaining(now))
  const resetAt = new Date(Date.now() + counter.resetMs(now))
  headers[`${name}-reset`] = resetAt.toISOString().replace(/\.\d+/, '')
}

/** By draft-ietf-httpapi-ratelimit-headers-11: lists of structured fields, with seconds. */
function addIetfHeaders(headers: Record<string, string>, counter: LimitCounter, now: number): void {
  const { kind, most, perMs } = counter.spec
  const add = (name: string, item: string): void => {
    const before = headers[name]
    headers[name] = before === undefined ? item : `${before}, ${item}`
  }
  add('ratelimit-policy', `"${kind}";q=${most};w=${perMs / 1_000}`)
  add('ratelimit', `"${kind}";r=${counter.remaining(now)};t=${Math.ceil(counter.resetMs(now) / 1_000)}`)
}

/** A duration as OpenAI writes it: `0s`, `12ms`, `6m0s`, `1h0m0s`. Rounded up. */
export function durationText(ms: number): string {
  if (ms > 0 && ms <= 999) return `${Math.ceil(ms)}ms`
  const seconds = Math.ceil(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return `${seconds}s`
  const hours = Math.floor(minutes / 60)
  const rest = `${minutes % 60}m${seconds % 60}s`
  return hours === 0 ? rest : `${hours}h${rest}`
}
