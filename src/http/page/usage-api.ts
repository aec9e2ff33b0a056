import { WireError, invalidRequest } from '../../formats/error.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import type { UseFilter, UseGroup, UseQuestion } from '../../ledger/use/use-question.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { readLedger } from './ledger-answer.ts'
import { csvHead, csvLines, dayNumber, usageAnswer } from './usage-entries.ts'

/** Options of {@link usageApi}. */
export interface UsageApiOptions {
  /** `undefined`: no use is kept. */
  readonly use: () => UseAsker | undefined
  /** Owners see the use of all. */
  readonly isOwner: (context: HandlerContext) => boolean
  /** Unix milliseconds. */
  readonly now: () => number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const rowsMax = 20_000
const groups = ['model', 'provider', 'person', 'key', 'all'] as const satisfies readonly UseGroup[]
/** Longest span of a question, by unit. */
const spanMsMax = { hour: 100 * dayMs, day: 3_660 * dayMs } as const
const spanMsDefault = { hour: dayMs, day: 6 * dayMs } as const
/** Span of each question for a file, which is written piece by piece. */
const pieceMs = { hour: dayMs, day: 7 * dayMs } as const

/** A span of time in Unix milliseconds; of days, the midnights in UTC of their dates. */
interface Span {
  readonly unit: 'hour' | 'day'
  readonly from: number
  readonly to: number
}

/** `GET /api/usage` (docs/ledger.md): the use of all for owners, else of the person or the key that asks. */
export function usageApi({ use, isOwner, now }: UsageApiOptions): readonly Route[] {
  async function usage(context: HandlerContext): Promise<Response> {
    const asker = use()
    if (asker === undefined)
      throw new WireError(404, 'invalid_request_error', 'usage_not_kept', 'No use is kept: start svc with --auth keys')
    const query = new URL(context.request.url).searchParams
    const span = spanOf(query, now())
    const by = choiceOf(query, 'by', groups, 'model')
    const filter = filterOf(context, isOwner)
    if (choiceOf(query, 'format', ['json', 'csv'], 'json') === 'csv')
      return fileOf(asker, span, { by, ...filter }, context)
    const question = questionOf(span, { by, rowsMax, ...filter })
    return jsonResponse(usageAnswer(question, await readLedger('The use', () => asker.read(question))), context.id)
  }

  return [{ method: 'GET', path: '/api/usage', isPublic: false, scope: 'usage:read', handle: usage }]
}

/** A key sees the use of its line, also one with other scopes of owners. */
function filterOf(context: HandlerContext, isOwner: UsageApiOptions['isOwner']): UseFilter {
  const { visitor, user = '' } = context
  if (visitor?.access !== undefined) return { line: visitor.key?.line ?? -1 }
  return isOwner(context) ? {} : { people: [visitor?.userId ?? user] }
}

function questionOf({ unit, from, to }: Span, more: Omit<UseQuestion, 'from' | 'to' | 'unit'>): UseQuestion {
  return unit === 'hour' ? { unit, from, to, ...more } : { unit, from: dayNumber(from), to: dayNumber(to), ...more }
}

/** Writes the file at the pace of its reader. */
function fileOf(
  asker: UseAsker,
  { unit, from, to }: Span,
  more: UseFilter & { readonly by: UseGroup },
  { id, request }: HandlerContext,
): Response {
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="usage-by-${more.by}.csv"`,
    'cache-control': 'no-store',
    'x-request-id': id,
  }
  if (request.method === 'HEAD') return new Response(null, { headers })
  const encoder = new TextEncoder()
  let next = from
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(csvHead))
    },
    async pull(controller) {
      let lines = ''
      while (lines === '' && next <= to) {
        const end = Math.min(to, next + pieceMs[unit] - 1)
        const question = questionOf({ unit, from: next, to: end }, { rowsMax: Number.MAX_SAFE_INTEGER, ...more })
        lines = csvLines(usageAnswer(question, await asker.read(question)).rows)
        next = end + 1
      }
      if (lines !== '') controller.enqueue(encoder.encode(lines))
      if (next > to) controller.close()
    },
  })
  return new Response(body, { headers })
}

/** @throws {WireError} 400 */
function spanOf(query: URLSearchParams, now: number): Span {
  const unit = choiceOf(query, 'unit', ['day', 'hour'], 'day')
  // Zones are up to 14 hours ahead of UTC: the last day may have begun there.
  const to = timeOf(query, 'to', unit) ?? now + (unit === 'day' ? 14 * hourMs : 0)
  const from = timeOf(query, 'from', unit) ?? Math.min(now, to) - spanMsDefault[unit]
  if (from > to) throw invalidRequest('invalid_value', "'from' is after 'to'.", 'from')
  if (to - from > spanMsMax[unit] + dayMs)
    throw invalidRequest('invalid_value', `From 'from' to 'to' are at most ${spanMsMax[unit] / dayMs} days.`, 'from')
  return { unit, from, to }
}

/** @throws {WireError} 400 */
function timeOf(query: URLSearchParams, name: 'from' | 'to', unit: Span['unit']): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const form =
    unit === 'day' ? /^\d{4}-\d\d-\d\d$/ : /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/
  const time = form.test(text) ? Date.parse(text) : Number.NaN
  if (time >= 0) return time
  const example = unit === 'day' ? 'a date such as 2026-11-23' : 'a time such as 2026-11-23T10:00:00Z'
  throw invalidRequest('invalid_value', `'${name}' must be ${example}.`, name)
}

/** @throws {WireError} 400 */
function choiceOf<Choice extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly Choice[],
  fallback: Choice,
): Choice {
  const text = query.get(name)
  if (text === null) return fallback
  const found = choices.find((choice) => choice === text)
  if (found !== undefined) return found
  throw invalidRequest('invalid_value', `'${name}' must be one of ${choices.join(', ')}.`, name)
}
