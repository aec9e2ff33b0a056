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
  readonly totalMsLeast: number
  /** Somewhere in id, user, model, providers and errors; in any case. */
  readonly text: string
}

/** The filters that are a choice among the values there are. */
export type Choice = 'model' | 'provider' | 'user' | 'status' | 'error'

/** Filters that let every request through. */
export const noFilters: RequestFilters = { model: '', provider: '', user: '', status: '', error: '', totalMsLeast: 0, text: '' }

const choices: readonly Choice[] = ['status', 'model', 'provider', 'user', 'error']

/** The values of a request that a choice is among. */
function valuesOf(request: RequestEntry, choice: Choice): readonly string[] {
  switch (choice) {
    case 'model': return [request.model]
    case 'provider': return [...new Set(request.trail.map(({ provider }) => provider))]
    case 'user': return request.user === undefined ? [] : [request.user]
    case 'status': return [endingOf(request)]
    case 'error': return request.error === undefined ? [] : [request.error]
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
export function countFilters({ totalMsLeast, text, ...chosen }: RequestFilters): number {
  return choices.filter((choice) => chosen[choice] !== '').length + (totalMsLeast > 0 ? 1 : 0) + (text.trim() === '' ? 0 : 1)
}

function passes({ request, text }: RequestRow, filters: RequestFilters): boolean {
  return request.totalMs >= filters.totalMsLeast
    && text.includes(filters.text.trim().toLowerCase())
    && choices.every((choice) => filters[choice] === '' || valuesOf(request, choice).includes(filters[choice]))
}

/** One value that may be chosen. */
export interface ChoiceOption {
  readonly value: string
  /** How many rows there are with it among those that all other filters let through. */
  readonly count: number
}

/** The values to choose among, commonest first. What is chosen stays among them, if with none. */
export function choiceOptions(rows: readonly RequestRow[], filters: RequestFilters, choice: Choice): readonly ChoiceOption[] {
  const counts = new Map<string, number>(filters[choice] === '' ? [] : [[filters[choice], 0]])
  for (const { request } of filterRequests(rows, { ...filters, [choice]: '' })) {
    for (const value of valuesOf(request, choice)) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const options = Array.from(counts, ([value, count]) => ({ value, count }))
  return options.toSorted((left, right) => right.count - left.count || (left.value < right.value ? -1 : 1))
}

const names = { model: 'model', provider: 'provider', user: 'user', status: 'status', error: 'error', totalMsLeast: 'slower', text: 'text' } as const

/** The filters of an address, as {@link writeFilters} made it. What is no filter is left aside. @param query with or without its question mark */
export function readFilters(query: string): RequestFilters {
  const members = new URLSearchParams(query)
  const text = (name: string): string => members.get(name) ?? ''
  const least = Number(text(names.totalMsLeast))
  return {
    model: text(names.model), provider: text(names.provider), user: text(names.user), error: text(names.error), text: text(names.text),
    status: endings.find((ending) => ending === text(names.status)) ?? '',
    totalMsLeast: Number.isFinite(least) && least > 0 ? least : 0,
  }
}

/** The filters that are set, for an address: without a question mark, empty for none. */
export function writeFilters(filters: RequestFilters): string {
  const members = new URLSearchParams()
  for (const choice of choices) if (filters[choice] !== '') members.set(names[choice], filters[choice])
  if (filters.totalMsLeast > 0) members.set(names.totalMsLeast, String(filters.totalMsLeast))
  if (filters.text !== '') members.set(names.text, filters.text)
  return members.toString()
}
