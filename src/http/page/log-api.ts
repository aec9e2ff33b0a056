import { invalidRequest, WireError } from '../../formats/error.ts'
import type { RequestFilter, RequestPlace, RequestQuestion, StoredOutcome } from '../../ledger/use/request-question.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import { requestFields } from '../../observe/record.ts'
import type { RequestEntry } from '../../observe/request-entry.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { columnName, csvFile, csvLine } from './csv.ts'
import { readLedger } from './ledger-answer.ts'
import { ledgerScope } from './ledger-scope.ts'
import type { OwnerCheck } from './owner-check.ts'
import type { LogAnswer, LogChoices } from './page-api.ts'
import { choiceOf, integerOf, timeOf } from './query.ts'

export interface LogApiOptions {
  /** `undefined`: no requests are kept. */
  readonly use: () => UseAsker | undefined
  /** Owners see the requests of all. */
  readonly isOwner: OwnerCheck
}

const rowsMax = 1_000
const rowsDefault = 100
/** Characters of a name in a filter. */
const nameMax = 200
const outcomes = ['ok', 'failed', 'refused', 'cut', 'left'] as const satisfies readonly StoredOutcome[]

/** `GET /api/log` and `GET /api/log/choices` (docs/ledger.md): the requests of the ledger, page by page. */
export function logApi({ use, isOwner }: LogApiOptions): readonly Route[] {
  function asker(): UseAsker {
    const found = use()
    if (found !== undefined) return found
    throw new WireError(
      404,
      'invalid_request_error',
      'usage_not_kept',
      'No requests are kept: start svc with --auth keys',
    )
  }

  async function page(context: HandlerContext): Promise<Response> {
    const { requests } = asker()
    const query = new URL(context.request.url).searchParams
    const question = questionOf(query, context)
    if (choiceOf(query, 'format', ['json', 'csv'], 'json') === 'csv') return fileOf(requests, question, context)
    const { requests: found, next } = await readLedger('The requests', () => requests.page(question))
    const answer: LogAnswer = {
      requests: found,
      ...(next === undefined ? {} : { next: writePlace(next), searchedTo: next.time }),
    }
    return jsonResponse(answer, context.id)
  }

  function questionOf(query: URLSearchParams, context: HandlerContext): RequestQuestion {
    const before = placeOf(query)
    const limit = integerOf(query, 'limit', { minimum: 1, maximum: rowsMax, fallback: rowsDefault })
    return {
      scope: ledgerScope(context, isOwner),
      filter: filterOf(query),
      ...(before === undefined ? {} : { before }),
      rowsMax: limit,
    }
  }

  async function choices(context: HandlerContext): Promise<Response> {
    const { requests } = asker()
    const found: LogChoices = await readLedger('The requests', () => requests.choices(ledgerScope(context, isOwner)))
    return jsonResponse(found, context.id)
  }

  return [
    { method: 'GET', path: '/api/log', isPublic: false, scope: 'log:read', handle: page },
    { method: 'GET', path: '/api/log/choices', isPublic: false, scope: 'log:read', handle: choices },
  ]
}

/** @throws {WireError} 400 */
function filterOf(query: URLSearchParams): RequestFilter {
  return {
    ...present('from', timeOf(query, 'from')),
    ...present('to', timeOf(query, 'to')),
    ...present('model', nameOf(query, 'model')),
    ...present('provider', nameOf(query, 'provider')),
    ...present('person', nameOf(query, 'person')),
    ...present('key', nameOf(query, 'key')),
    ...present('session', nameOf(query, 'session')),
    ...present('error', nameOf(query, 'error')),
    ...present('api', nameOf(query, 'api')),
    ...present('text', nameOf(query, 'text')),
    ...present('status', statusOf(query)),
    ...present('hasFailed', choiceOf(query, 'failed', ['yes'], undefined) && true),
    ...present('firstMsMin', leastOf(query, 'first_token_ms')),
    ...present('msMin', leastOf(query, 'total_ms')),
    ...present('tokensMin', leastOf(query, 'tokens')),
    ...present('costMin', leastOf(query, 'cost', 1e9)),
  }
}

function present<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [Key in Name]?: Value } {
  // The key is this name.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]: Value })
}

/** @throws {WireError} 400 */
function nameOf(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name) ?? ''
  if (text.length > nameMax) throw invalidRequest('invalid_value', `'${name}' has at most ${nameMax} characters.`, name)
  return text === '' ? undefined : text
}

/** @throws {WireError} 400 */
function statusOf(query: URLSearchParams): StoredOutcome | number | undefined {
  const text = query.get('status')
  if (text === null || text === '') return undefined
  const outcome = outcomes.find((each) => each === text)
  if (outcome !== undefined) return outcome
  if (/^[1-5]\d\d$/.test(text)) return Number(text)
  const message = `'status' must be a status such as 429, or one of ${outcomes.join(', ')}.`
  throw invalidRequest('invalid_value', message, 'status')
}

/** A least value. @param unit is multiplied @throws {WireError} 400 */
function leastOf(query: URLSearchParams, name: string, unit = 1): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = /^\d{1,12}(\.\d{1,9})?$/.test(text) ? Number(text) * unit : Number.NaN
  if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) return Math.ceil(value)
  throw invalidRequest('invalid_value', `'${name}' must be a number such as 250.`, name)
}

/** @throws {WireError} 400 */
function placeOf(query: URLSearchParams): RequestPlace | undefined {
  const text = query.get('before')
  if (text === null) return undefined
  const [, time, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? []
  if (time !== undefined && seq !== undefined) return { time: Number(time), seq: Number(seq) }
  throw invalidRequest('invalid_value', "'before' must be 'next' of an answer.", 'before')
}

function writePlace({ time, seq }: RequestPlace): string {
  return `${time}-${seq}`
}

/** Columns of the file: name, and cell of an entry. */
const columns = requestFields.flatMap(({ name = '', file, fileAs = name }) =>
  file === undefined ? [] : [{ name: columnName(fileAs), cell: file === true ? cellOf(name) : file }],
)

/** A file of all requests that match, in pieces. */
function fileOf(search: UseAsker['requests'], question: RequestQuestion, context: HandlerContext): Response {
  let next: RequestQuestion | undefined = { ...question, rowsMax }
  return csvFile(context, {
    name: 'requests.csv',
    head: csvLine(columns.map(({ name }) => name)),
    async next() {
      if (next === undefined) return undefined
      const page = await search.page(next)
      next = page.next && { ...next, before: page.next }
      return page.requests.map((request) => csvLine(columns.map(({ cell }) => cell(request)))).join('')
    },
  })
}

/** A member of an entry that is written as it is. */
function cellOf(member: string): (entry: RequestEntry) => string | number | undefined {
  return (entry) => {
    const value: unknown = Object.entries(entry).find(([name]) => name === member)?.[1]
    return typeof value === 'string' || typeof value === 'number' ? value : undefined
  }
}
