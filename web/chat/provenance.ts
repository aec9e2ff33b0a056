import { decodeHeaderText } from '../../src/bytes/header-text.ts'
import type { RequestEntry, TrailEntry } from '../../src/observe/request-entry.ts'
import type { Provenance } from '../history/conversation.ts'
import { formatCost, markEstimate } from '../ui/format-cost.ts'
import { formatMs } from '../ui/format-seconds.ts'

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

/** The figures of an answer in one line: `llama-3.3-70b · 1.2 s · $0.00021`. Empty: none is known. */
export function figuresOf({ model, totalMs, cost, isEstimated }: Provenance): string {
  const figures = [
    model,
    totalMs === undefined ? undefined : formatMs(totalMs),
    cost === undefined ? undefined : markEstimate(formatCost(cost), isEstimated),
  ]
  return figures.filter((figure) => figure !== undefined).join(' · ')
}
