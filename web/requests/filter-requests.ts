import type { RequestEntry } from '../../src/http/page-api.ts'
import type { RequestRow } from './request-rows.ts'

/** How a request ended, in a word. */
export type Ending =
  | 'ok'
  /** A stream that ended with an error after it had begun. */
  | 'cut'
  /** The caller left. */
  | 'left'
  /** 4xx. */
  | 'refused'
  /** 5xx. */
  | 'failed'

/** The endings there are, in the order in which they are offered. */
export const endings: readonly Ending[] = ['ok', 'failed', 'refused', 'cut', 'left']

/** How a request ended. */
export function endingOf({ status, error }: Pick<RequestEntry, 'status' | 'error'>): Ending {
  if (status === 499) return 'left'
  if (status >= 500) return 'failed'
  if (status >= 400) return 'refused'
  return error === undefined ? 'ok' : 'cut'
}

/** Which requests are wanted. Empty and 0: all. */
export interface RequestFilters {
  readonly model: string
  /** Who had a part in it, whether they served it or failed. */
  readonly provider: string
  readonly user: string
  readonly status: string
  readonly error: string
  /** The minutes within which it began, both included: when they begin, Unix milliseconds. */
  readonly from: number
  readonly to: number
  readonly firstTokenMsLeast: number
  readonly totalMsLeast: number
  /** In and out together. */
  readonly tokensLeast: number
  /** USD. */
  readonly costLeast: number
  /** Somewhere in id, user, model, providers and errors; in any case. */
  readonly text: string
}

/** The filters that are a choice among the values there are. */
export type Choice = 'model' | 'provider' | 'user' | 'status' | 'error'

/** The filters that are a figure to be reached: what was not measured does not reach any. */
export type Least = 'firstTokenMsLeast' | 'totalMsLeast' | 'tokensLeast' | 'costLeast'

/** The filters that are a time. */
export type Edge = 'from' | 'to'

/** Filters that let every request through. */
export const noFilters: RequestFilters = {
  model: '',
  provider: '',
  user: '',
  status: '',
  error: '',
  from: 0,
  to: 0,
  firstTokenMsLeast: 0,
  totalMsLeast: 0,
  tokensLeast: 0,
  costLeast: 0,
  text: '',
}

const choices: readonly Choice[] = ['status', 'model', 'provider', 'user', 'error']
const leasts: readonly Least[] = ['firstTokenMsLeast', 'totalMsLeast', 'tokensLeast', 'costLeast']
const numbers: readonly (Edge | Least)[] = ['from', 'to', ...leasts]
const minuteMs = 60_000

/** The values of a request that a choice is among. */
function valuesOf(request: RequestEntry, choice: Choice): readonly string[] {
  switch (choice) {
    case 'model':
      return [request.model]
    case 'provider':
      return [...new Set(request.trail.map(({ provider }) => provider))]
    case 'user':
      return request.user === undefined ? [] : [request.user]
    case 'status':
      return [endingOf(request)]
    case 'error':
      return request.error === undefined ? [] : [request.error]
  }
}

function figureOf(
  { firstTokenMs, totalMs, promptTokens = 0, completionTokens = 0, cost }: RequestEntry,
  least: Least,
): number {
  switch (least) {
    case 'firstTokenMsLeast':
      return firstTokenMs ?? 0
    case 'totalMsLeast':
      return totalMs
    case 'tokensLeast':
      return promptTokens + completionTokens
    case 'costLeast':
      return cost ?? 0
  }
}

/** The rows that every filter lets through, in their order. */
export function filterRequests(rows: readonly RequestRow[], filters: RequestFilters): readonly RequestRow[] {
  return isFiltering(filters) ? rows.filter((row) => passes(row, filters)) : rows
}

/** Whether any filter is set. */
export function isFiltering(filters: RequestFilters): boolean {
  return countFilters(filters) > 0
}

/** How many filters are set. */
export function countFilters(filters: RequestFilters): number {
  return (
    choices.filter((choice) => filters[choice] !== '').length +
    numbers.filter((name) => filters[name] > 0).length +
    (filters.text.trim() === '' ? 0 : 1)
  )
}

function passes({ request, text }: RequestRow, filters: RequestFilters): boolean {
  return (
    request.time >= filters.from &&
    (filters.to === 0 || request.time < filters.to + minuteMs) &&
    leasts.every((least) => figureOf(request, least) >= filters[least]) &&
    text.includes(filters.text.trim().toLowerCase()) &&
    choices.every((choice) => filters[choice] === '' || valuesOf(request, choice).includes(filters[choice]))
  )
}

/** One value that may be chosen. */
export interface ChoiceOption {
  readonly value: string
  /** How many rows there are with it among those that all other filters let through. */
  readonly count: number
}

/** The values to choose among, commonest first. What is chosen stays among them, if with none. */
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
  error: 'error',
  from: 'from',
  to: 'to',
  firstTokenMsLeast: 'waited',
  totalMsLeast: 'slower',
  tokensLeast: 'tokens',
  costLeast: 'cost',
  text: 'text',
} as const

/**
 * The filters of an address, as {@link writeFilters} made it. What is no filter is left aside. @param query with or
 * without its question mark
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
    error: text(names.error),
    text: text(names.text),
    status: endings.find((ending) => ending === text(names.status)) ?? '',
    from: number(names.from),
    to: number(names.to),
    firstTokenMsLeast: number(names.firstTokenMsLeast),
    totalMsLeast: number(names.totalMsLeast),
    tokensLeast: number(names.tokensLeast),
    costLeast: number(names.costLeast),
  }
}

/** The filters that are set, for an address: without a question mark, empty for none. */
export function writeFilters(filters: RequestFilters): string {
  const members = new URLSearchParams()
  for (const choice of choices) if (filters[choice] !== '') members.set(names[choice], filters[choice])
  for (const name of numbers) if (filters[name] > 0) members.set(names[name], String(filters[name]))
  if (filters.text !== '') members.set(names.text, filters.text)
  return members.toString()
}
