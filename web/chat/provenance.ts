import { decodeHeaderText } from '../../src/bytes/header-text.ts'
import type { RequestEntry, TrailEntry } from '../../src/observe/request-entry.ts'
import type { Provenance } from '../history/conversation.ts'
import { formatCount } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import { formatCost, markEstimate } from '../ui/format-cost.ts'

/** Measurements of the page for one answer. */
export interface Measurements {
  readonly requestId: string
  /** Milliseconds since the request. */
  readonly firstTokenMs?: number
  readonly totalMs?: number
  readonly promptTokens?: number
  readonly completionTokens?: number
}

/** Origin of an answer, from its headers (docs/api.md, "Response headers") and the page's measurements. */
export function provenanceOf(measured: Measurements, headers?: Headers): Provenance {
  const provider = headers?.get('x-svc-provider') ?? undefined
  const model = headers?.get('x-svc-model') ?? undefined
  return {
    ...measured,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model: decodeHeaderText(model) }),
    trail: parseTrail(headers?.get('x-svc-trail') ?? ''),
  }
}

/** Overrides the provenance with the service's record, which is more complete. */
export function withRecord(
  { model, ...provenance }: Provenance,
  { provider, trail, firstTokenMs, totalMs, promptTokens, completionTokens, cost, isEstimated }: RequestEntry,
): Provenance {
  // After a resume, the last provider's name for the model is unknown.
  const isOther = provenance.provider !== undefined && provider !== undefined && provenance.provider !== provider
  return {
    ...provenance,
    ...(model === undefined || isOther ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    trail,
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    totalMs,
    ...(promptTokens === undefined ? {} : { promptTokens }),
    ...(completionTokens === undefined ? {} : { completionTokens }),
    ...(cost === undefined ? {} : { cost }),
    ...(isEstimated === undefined ? {} : { isEstimated }),
  }
}

/** Parses `x-svc-trail`: `groq;status=429;class=rate_limit;ms=12, openai;status=200;ms=340`. */
export function parseTrail(header: string): readonly TrailEntry[] {
  return header.split(',').flatMap((attempt) => {
    const [provider = '', ...fields] = attempt.trim().split(';')
    if (provider === '') return []
    const value = (name: string): string | undefined =>
      fields.find((field) => field.startsWith(`${name}=`))?.slice(name.length + 1)
    const [status, failure, ms] = [Number(value('status')), value('class'), Number(value('ms'))]
    return [
      {
        provider,
        ...(Number.isNaN(status) ? {} : { status }),
        ...(failure === undefined ? {} : { failure }),
        ms: Number.isNaN(ms) ? 0 : ms,
      },
    ]
  })
}

/**
 * The origin of an answer in one short line: `llama-4 via good (freebie busy) · $0.00007`. It names the model, the
 * provider, the providers that were passed over, each with a reason, and the cost.
 */
export function summarize({ provider, model, trail, cost, isEstimated }: Provenance): string {
  const origin = [model, provider].filter((name) => name !== undefined).join(say.chat.via)
  const passed = provider === undefined ? [] : passedOver(trail, provider)
  const shown = passed.slice(0, passedOverMax)
  const others =
    passed.length > shown.length ? [...shown, say.chat.moreProviders(formatCount(passed.length - shown.length))] : shown
  return [
    `${origin === '' ? say.common.details : origin}${others.length === 0 ? '' : ` (${others.join(', ')})`}`,
    ...(cost === undefined ? [] : [markEstimate(formatCost(cost), isEstimated)]),
  ].join(' · ')
}

const passedOverMax = 3

/** Each other provider that failed, once, with its last reason: `groq busy`. */
function passedOver(trail: readonly TrailEntry[], provider: string): readonly string[] {
  const reasons = new Map<string, string>()
  for (const attempt of trail)
    if (attempt.failure !== undefined && attempt.provider !== provider)
      reasons.set(attempt.provider, failureWords.get(attempt.failure) ?? say.failures.failed)
  return [...reasons].map(([name, reason]) => `${name} ${reason}`)
}

/** Classes of failures (docs/failover.md) in a word or two. All others are `failed`. */
const failureWords: ReadonlyMap<string, string> = new Map(
  [
    [say.failures.busy, 'rate_limit', 'overloaded', 'resources'],
    [say.failures.unreachable, 'dns', 'connect', 'tls', 'reset'],
    [say.failures.slow, 'timeout', 'request_timeout'],
    [say.failures.refused, 'bad_request', 'content_policy'],
    [say.failures.small, 'context_length'],
    [say.failures.key, 'credential'],
    [say.failures.credit, 'quota'],
    [say.failures.budget, 'budget'],
    [say.failures.unpriced, 'no_price'],
    [say.failures.lacks, 'model_gone'],
    [say.failures.cut, 'cut'],
    [say.failures.empty, 'empty'],
  ].flatMap(([words = '', ...classes]) => classes.map((each) => [each, words] as const)),
)
