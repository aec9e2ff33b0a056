import type { RequestEntry, TrailEntry } from '../../src/http/page-api.ts'
import type { Provenance } from '../history/conversation.ts'

/** What was measured here while an answer came. */
export interface Measured {
  readonly requestId: string
  /** Milliseconds from asking. */
  readonly firstTokenMs?: number
  readonly totalMs?: number
  readonly promptTokens?: number
  readonly completionTokens?: number
}

/** Where an answer comes from, as far as its headers tell (docs/api.md, "Response headers"), and what was measured here. */
export function provenanceOf(measured: Measured, headers?: Headers): Provenance {
  const provider = headers?.get('x-svc-provider') ?? undefined
  const model = headers?.get('x-svc-model') ?? undefined
  return {
    ...measured,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    trail: parseTrail(headers?.get('x-svc-trail') ?? ''),
  }
}

/** The same with what the service remembers of the request, which is more, and counts. */
export function withRecord(
  { model, ...provenance }: Provenance,
  { provider, trail, firstTokenMs, totalMs, promptTokens, completionTokens, cost }: RequestEntry,
): Provenance {
  // What somebody else calls the model, who went on where the first one stopped, is told nowhere.
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
  }
}

/** Reads `x-svc-trail`: `groq;status=429;class=rate_limit;ms=12, openai;status=200;ms=340`. */
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
