import { readFileSync } from 'node:fs'
import { isRecord, type JsonObject } from '../base/json-value.ts'
import { serverSentEvents } from '../bytes/framing.ts'
import { readUpstreamError } from '../formats/upstream-error.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { applies, classifyFailure, factsOf } from '../upstream/classify.ts'
import { refusalRules, type RefusalRule } from '../upstream/refusal-rules.ts'
import { streamReply } from '../upstream/stream-reply.ts'
import { chatOf, chatRequest, endpointAt } from './fixtures/load.ts'
import { openai } from './openai.ts'
import { fakeBody } from './testing.ts'

/** A failure as a provider sends it: a line of test/corpus/errors.jsonl (docs/contributing/refusals.md). */
export interface ErrorFact {
  readonly id: string
  readonly brand: string
  readonly where: string
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Right class, or `none`; `accept` has other classes that pass. */
  readonly class: string
  readonly accept: readonly string[]
  readonly scope: string
  readonly waitMs: number | undefined
  readonly source: string
  readonly evidence: string
}

/** The time at which the facts are judged: their waits may be dates. */
const nowMs = Date.parse('2026-01-01T00:00:00Z')

/** Reads the corpus. */
export function errorFacts(): readonly ErrorFact[] {
  const text = readFileSync(new URL('../../test/corpus/errors.jsonl', import.meta.url), 'utf8')
  return text.trimEnd().split('\n').map(parseFact)
}

function parseFact(line: string): ErrorFact {
  const parsed: unknown = JSON.parse(line)
  const fact: JsonObject = isRecord(parsed) ? parsed : {}
  const textOf = (name: string) => {
    const value = fact[name]
    if (typeof value !== 'string') throw new Error(`'${name}' must be a text: ${line.slice(0, 80)}`)
    return value
  }
  const { headers, accept, wait_ms: waitMs } = fact
  return {
    id: textOf('id'),
    brand: textOf('brand'),
    where: textOf('where'),
    status: Number(fact['status']),
    headers: new Map(Object.entries(isRecord(headers) ? headers : {}).map(([name, value]) => [name, String(value)])),
    body: textOf('body'),
    class: textOf('class'),
    accept: Array.isArray(accept) ? accept.map(String) : [],
    scope: textOf('scope'),
    waitMs: typeof waitMs === 'number' ? waitMs : undefined,
    source: textOf('source'),
    evidence: textOf('evidence'),
  }
}

/** The failure that a fact is for this service; undefined for a good answer. */
export async function failureOfFact({ status, headers, body, brand }: ErrorFact): Promise<UpstreamFailure | undefined> {
  const bytes = new TextEncoder().encode(body)
  if (status !== 200) return classifyFailure(status, headers, readUpstreamError(bytes), brand, nowMs)
  try {
    const isStream = serverSentEvents.looksLikeStream(bytes)
    const target = endpointAt('https://upstream.test/v1', { brand })
    if (!isStream) chatOf(openai).decode(bytes, chatRequest(), { brand })
    else {
      const decoder = chatOf(openai).stream(chatRequest({ stream: true }), target)
      const options = { framing: serverSentEvents, idleMs: 60_000, hidden: (error: unknown) => error }
      const reply = streamReply(fakeBody([body]), decoder, options)
      while ((await reply.read()) !== undefined);
    }
    return undefined
  } catch (error) {
    if (error instanceof UpstreamFailure) return error
    throw error
  }
}

/** Describes a wrong failure of a fact; undefined: it is right. A passing failure may have a narrower scope. */
export async function faultOf(fact: ErrorFact): Promise<string | undefined> {
  const failure = await failureOfFact(fact)
  const { failure: found = 'none', scope = 'request', retryAfterMs } = failure ?? {}
  const isExact = found === fact.class
  const isNarrower = scope === 'model' && ['rate_limit', 'overloaded', 'server_error'].includes(found)
  const isScope = scope === fact.scope || isNarrower || (scope === 'key' && fact.scope === 'provider')
  if ((isExact ? isScope : fact.accept.includes(found)) && retryAfterMs === fact.waitMs) return undefined
  const right = `${fact.class}, scope ${fact.scope}, wait ${fact.waitMs ?? '-'}`
  return `${found}, scope ${scope}, wait ${retryAfterMs ?? '-'}; right: ${right}`
}

/** The rules that apply to a fact, the winner first. None for streams, which the failure alone can show. */
export function rulesFor({ status, headers, body, brand, where }: ErrorFact): readonly RefusalRule[] {
  if (where === 'stream') return []
  const error = readUpstreamError(new TextEncoder().encode(body))
  const facts = factsOf({ status: status === 200 ? undefined : status, headers, error, brand })
  return refusalRules.filter((rule) => applies(rule, facts))
}
