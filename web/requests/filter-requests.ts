import type { RequestEntry } from '../../src/observe/request-entry.ts'
import type { RequestRow } from './request-rows.ts'

/** Outcome of a request. */
export type Outcome =
  | 'ok'
  /** A stream that ended with an error after the commit. */
  | 'cut'
  /** The caller closed the connection. */
  | 'left'
  /** 4xx. */
  | 'refused'
  /** 5xx. */
  | 'failed'

/** All outcomes, in menu order. */
export const outcomes: readonly Outcome[] = ['ok', 'failed', 'refused', 'cut', 'left']

/** Returns the outcome of a request. */
export function outcomeOf({ status, error }: Pick<RequestEntry, 'status' | 'error'>): Outcome {
  if (status === 499) return 'left'
  if (status >= 500) return 'failed'
  if (status >= 400) return 'refused'
  return error === undefined ? 'ok' : 'cut'
}

/** Filters. Empty and 0 mean no filter. */
export interface RequestFilters {
  readonly model: string
  /** Provider that served the request or failed in it. */
  readonly provider: string
  readonly user: string
  readonly status: string
  readonly error: string
  /** `yes`: a provider failed, or was passed over. */
  readonly failed: string
  /** Format of the request, such as `messages`. */
  readonly api: string
  /** `hour`: the last one, at any time; `from` and `to` are not set then. */
  readonly span: '' | 'hour'
  /** Start of the first and the last minute, in Unix milliseconds; both are included. */
  readonly from: number
  readonly to: number
  readonly firstTokenMsMin: number
  readonly totalMsMin: number
  /** Sum of input and output. */
  readonly tokensMin: number
  /** USD. */
  readonly costMin: number
  /** Text in id, format, user, model, providers or errors. Ignores case. */
  readonly text: string
}

/** Filters that are a choice of values. */
export type Choice = 'model' | 'provider' | 'user' | 'status' | 'failed' | 'error' | 'api'

/** Filters that are a minimum. Requests without the measurement do not match. */
export type Minimum = 'firstTokenMsMin' | 'totalMsMin' | 'tokensMin' | 'costMin'

/** Filters that are a time. */
export type TimeBound = 'from' | 'to'

/** Matches every request. */
export const noFilters: RequestFilters = {
  model: '',
  provider: '',
  user: '',
  status: '',
  failed: '',
  error: '',
  api: '',
  span: '',
  from: 0,
  to: 0,
  firstTokenMsMin: 0,
  totalMsMin: 0,
  tokensMin: 0,
  costMin: 0,
  text: '',
}

const choices: readonly Choice[] = ['status', 'failed', 'model', 'provider', 'user', 'error', 'api']
const minimums: readonly Minimum[] = ['firstTokenMsMin', 'totalMsMin', 'tokensMin', 'costMin']
const numbers: readonly (TimeBound | Minimum)[] = ['from', 'to', ...minimums]
const minuteMs = 60_000
const hourMs = 3_600_000

/** The values of a request for a choice. */
function valuesOf(request: RequestEntry, choice: Choice): readonly string[] {
  switch (choice) {
    case 'model':
      return [request.model]
    case 'provider':
      return [...new Set(request.trail.map(({ provider }) => provider))]
    case 'user':
      return [request.user, request.person].filter((user) => user !== undefined)
    case 'status':
      return [outcomeOf(request)]
    case 'failed':
      return request.trail.some(({ failure }) => failure !== undefined) ? ['yes'] : []
    case 'error':
      return request.error === undefined ? [] : [request.error]
    case 'api':
      return [request.api]
  }
}

function figureOf(
  { firstTokenMs, totalMs, promptTokens = 0, completionTokens = 0, cost }: RequestEntry,
  minimum: Minimum,
): number {
  switch (minimum) {
    case 'firstTokenMsMin':
      return firstTokenMs ?? 0
    case 'totalMsMin':
      return totalMs
    case 'tokensMin':
      return promptTokens + completionTokens
    case 'costMin':
      return cost ?? 0
  }
}

/** The filters at a time, Unix milliseconds: the last hour begins an hour before its minute. */
export function filtersAt(filters: RequestFilters, now: number): RequestFilters {
  if (filters.span === '') return filters
  return { ...filters, span: '', from: Math.floor(now / minuteMs) * minuteMs - hourMs, to: 0 }
}

/** Returns the rows that match every filter. @param now Unix milliseconds */
export function filterRequests(
  rows: readonly RequestRow[],
  wanted: RequestFilters,
  now = Date.now(),
): readonly RequestRow[] {
  const filters = filtersAt(wanted, now)
  return isFiltering(filters) ? rows.filter((row) => passes(row, filters)) : rows
}

/** Whether a filter is set. */
export function isFiltering(filters: RequestFilters): boolean {
  return countFilters(filters) > 0
}

/** Counts the filters that are set. */
export function countFilters(filters: RequestFilters): number {
  return (
    choices.filter((choice) => filters[choice] !== '').length +
    numbers.filter((name) => filters[name] > 0).length +
    (filters.span === '' ? 0 : 1) +
    (filters.text.trim() === '' ? 0 : 1)
  )
}

function passes({ request, text }: RequestRow, filters: RequestFilters): boolean {
  return (
    request.time >= filters.from &&
    (filters.to === 0 || request.time < filters.to + minuteMs) &&
    minimums.every((minimum) => figureOf(request, minimum) >= filters[minimum]) &&
    text.includes(filters.text.trim().toLowerCase()) &&
    choices.every((choice) => filters[choice] === '' || valuesOf(request, choice).includes(filters[choice]))
  )
}

/** A value of a choice. */
export interface ChoiceOption {
  readonly value: string
  /** Number of rows with this value that match all other filters. */
  readonly count: number
}

/** Returns the values of a choice, the most common first. Includes the chosen value even without rows. */
export function choiceOptions(
  rows: readonly RequestRow[],
  filters: RequestFilters,
  choice: Choice,
): readonly ChoiceOption[] {
  const counts = new Map<string, number>(filters[choice] === '' ? [] : [[filters[choice], 0]])
  for (const { request } of filterRequests(rows, { ...filters, [choice]: '' })) {
    for (const value of valuesOf(request, choice)) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const options = Array.from(counts, ([value, count]) => ({ value, count }))
  return options.toSorted((left, right) => right.count - left.count || (left.value < right.value ? -1 : 1))
}

const names = {
  model: 'model',
  provider: 'provider',
  user: 'user',
  status: 'status',
  failed: 'failed',
  error: 'error',
  api: 'api',
  span: 'span',
  from: 'from',
  to: 'to',
  firstTokenMsMin: 'waited',
  totalMsMin: 'slower',
  tokensMin: 'tokens',
  costMin: 'cost',
  text: 'text',
} as const

/**
 * Parses filters from an address, as written by {@link writeFilters}. Ignores anything else.
 *
 * @param query with or without its question mark
 */
export function readFilters(query: string): RequestFilters {
  const members = new URLSearchParams(query)
  const text = (name: string): string => members.get(name) ?? ''
  const number = (name: string): number => {
    const value = Number(text(name))
    return Number.isFinite(value) && value > 0 ? value : 0
  }
  return {
    model: text(names.model),
    provider: text(names.provider),
    user: text(names.user),
    failed: text(names.failed) === 'yes' ? 'yes' : '',
    error: text(names.error),
    api: text(names.api),
    text: text(names.text),
    status: outcomes.find((outcome) => outcome === text(names.status)) ?? '',
    span: text(names.span) === 'hour' ? 'hour' : '',
    from: number(names.from),
    to: number(names.to),
    firstTokenMsMin: number(names.firstTokenMsMin),
    totalMsMin: number(names.totalMsMin),
    tokensMin: number(names.tokensMin),
    costMin: number(names.costMin),
  }
}

/** Writes the set filters for an address, without a question mark; empty if none is set. */
export function writeFilters(filters: RequestFilters): string {
  const members = new URLSearchParams()
  for (const choice of choices) if (filters[choice] !== '') members.set(names[choice], filters[choice])
  for (const name of numbers) if (filters[name] > 0) members.set(names[name], String(filters[name]))
  if (filters.span !== '') members.set(names.span, filters.span)
  if (filters.text !== '') members.set(names.text, filters.text)
  return members.toString()
}
