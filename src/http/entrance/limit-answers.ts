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

/** The counters that headers of an answer show: those nearest to their end. */
export interface ShownLimits {
  /** By the clock of the counters. */
  readonly now: number
  readonly requests: LimitCounter | undefined
  readonly tokens: LimitCounter | undefined
}

/** Finds the counters that headers show. */
export function shownLimits(admission: LimitAdmission): ShownLimits {
  const now = admission.now()
  return { now, requests: admission.nearest('requests', now), tokens: admission.nearest('tokens', now) }
}

/** The names of the headers of {@link limitValues}. */
export const limitHeaderNames = {
  requests: ['x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  tokens: ['x-ratelimit-limit-tokens', 'x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'],
} as const

/** The amount of a limit, what is left, and when all of it is. */
export function limitValues(counter: LimitCounter, now: number): readonly [string, string, string] {
  return [String(counter.spec.most), String(counter.remaining(now)), durationText(counter.resetMs(now))]
}

/** The state of the limits nearest to their end, as headers of an answer. */
export function limitHeaders(admission: LimitAdmission, format: FormatName): Record<string, string> {
  const shown = shownLimits(admission)
  const headers = furtherLimitHeaders(admission, format, shown) ?? {}
  for (const kind of ['requests', 'tokens'] as const) {
    const counter = shown[kind]
    if (counter === undefined) continue
    const [limit, remaining, reset] = limitHeaderNames[kind]
    ;[headers[limit], headers[remaining], headers[reset]] = limitValues(counter, shown.now)
  }
  return headers
}

/** The same state for clients of Anthropic's format, and as the IETF has it; `undefined`: neither is wanted. */
export function furtherLimitHeaders(
  { hasIetfHeaders }: LimitAdmission,
  format: FormatName,
  { now, requests, tokens }: ShownLimits,
): Record<string, string> | undefined {
  const isAnthropic = anthropicFormats.has(format)
  if (!isAnthropic && !hasIetfHeaders) return undefined
  const headers: Record<string, string> = {}
  for (const counter of [requests, tokens]) {
    if (counter === undefined) continue
    if (isAnthropic) addAnthropicHeaders(headers, counter, now)
    if (hasIetfHeaders) addIetfHeaders(headers, counter, now)
  }
  return headers
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
