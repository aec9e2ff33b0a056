import type { FailureEntry, UsageAnswer, UsageEntry } from '../../src/http/page/page-api.ts'

/** A span of time that the view offers. */
export interface UsageRange {
  readonly unit: 'hour' | 'day'
  /** Number of hours or days, with the present one. */
  readonly count: number
  /** Midnight in UTC of the last day. Default: the present one. */
  readonly last?: number
}

/** The spans of time. */
export const usageRanges = [
  { unit: 'hour', count: 24 },
  { unit: 'day', count: 7 },
  { unit: 'day', count: 30 },
  { unit: 'day', count: 90 },
] as const satisfies readonly UsageRange[]

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The query of a range. @param now Unix milliseconds */
export function usageQuery({ unit, count, last }: UsageRange, by: UsageAnswer['by'], now: number): string {
  if (last !== undefined) return `unit=day&from=${writeDate(last - (count - 1) * dayMs)}&to=${writeDate(last)}&by=${by}`
  const first = now - (count - 1) * (unit === 'hour' ? hourMs : dayMs)
  const time = new Date(first).toISOString()
  const from = unit === 'hour' ? `${time.slice(0, 13)}:00:00Z` : time.slice(0, 10)
  return `unit=${unit}&from=${from}&by=${by}`
}

/** A date such as `2026-11-23`. @param midnight in UTC */
export function writeDate(midnight: number): string {
  return new Date(midnight).toISOString().slice(0, 10)
}

/** A span of days, both included; `undefined`: they are no dates, or in the wrong order, or more than ten years. */
export function ownRange(from: string, to: string): UsageRange | undefined {
  const [first, last] = [readDate(from), readDate(to)]
  if (first === undefined || last === undefined) return undefined
  const count = Math.round((last - first) / dayMs) + 1
  return count < 1 || count > 3_660 ? undefined : { unit: 'day', count, last }
}

/** Midnight in UTC of a date. */
function readDate(text: string): number | undefined {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return time >= 0 && writeDate(time) === text ? time : undefined
}

/** Sums of all numbers of some entries. */
export type UsageSum = Omit<UsageEntry, 'time'>

const numbers = [
  'requests',
  'errors',
  'left',
  'attempts',
  'inputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'outputTokens',
  'reasoningTokens',
  'cost',
  'reportedCost',
  'estimatedCost',
  'saved',
  'unpriced',
  'estimated',
  'unsettled',
] as const satisfies readonly (keyof UsageSum)[]

/** Adds entries. */
export function sumOf(name: string, entries: readonly UsageEntry[]): UsageSum {
  const sum: { -readonly [Name in keyof UsageSum]: UsageSum[Name] } = { ...nothing, name }
  for (const entry of entries) for (const number of numbers) sum[number] += entry[number]
  return sum
}

const nothing: UsageSum = {
  name: '',
  requests: 0,
  errors: 0,
  left: 0,
  attempts: 0,
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cost: 0,
  reportedCost: 0,
  estimatedCost: 0,
  saved: 0,
  unpriced: 0,
  estimated: 0,
  unsettled: 0,
}

/** Sums by name, the dearest first. */
export function groupSums(rows: readonly UsageEntry[]): readonly UsageSum[] {
  return Array.from(
    Map.groupBy(rows, ({ name }) => name),
    ([name, entries]) => sumOf(name, entries),
  ).toSorted(
    (one, other) => other.cost - one.cost || other.requests - one.requests || one.name.localeCompare(other.name),
  )
}

/** Tokens of all kinds. */
export function tokensOf(sum: UsageSum): number {
  return sum.inputTokens + sum.cachedTokens + sum.cacheWriteTokens + sum.outputTokens + sum.reasoningTokens
}

/** A value of the chart. */
export type Measure = 'cost' | 'requests' | 'tokens' | 'kinds'

/** The value of a measure. */
export function valueOf(sum: UsageSum, measure: Measure): number {
  return measure === 'tokens' || measure === 'kinds' ? tokensOf(sum) : sum[measure]
}

/** One group in the chart. */
export interface UsageSeries {
  /** `undefined`: all others. */
  readonly name: string | undefined
  readonly values: readonly number[]
}

/** Values over time. */
export interface UsageChartData {
  /** Unix milliseconds: of days, the midnights in UTC of their dates. */
  readonly times: readonly number[]
  readonly series: readonly UsageSeries[]
}

/**
 * The values of the largest groups, and of all others together, in each hour or day of a range. Groups whose values are
 * all 0 have no series.
 *
 * @param groupsMax groups with a series of their own, if there are more than one beside them
 */
export function chartData(
  rows: readonly UsageEntry[],
  range: UsageRange,
  { measure, now, groupsMax }: { readonly measure: Measure; readonly now: number; readonly groupsMax: number },
): UsageChartData {
  const times = timesOf(range, rows, now)
  const names = largestOf(groupSums(rows), measure, groupsMax)
  const named = Map.groupBy(rows, ({ name }) => (names.includes(name) ? name : undefined))
  return {
    times,
    series: names.map((name) => {
      const byTime = Map.groupBy(named.get(name) ?? [], ({ time }) => startOf(time, range.unit))
      return { name, values: times.map((time) => valueOf(sumOf('', byTime.get(time) ?? []), measure)) }
    }),
  }
}

/** Names of the largest groups, and `undefined` if there are others. A single other one has its name. */
export function largestOf(
  sums: readonly UsageSum[],
  measure: Measure,
  groupsMax: number,
): readonly (string | undefined)[] {
  const groups = sums
    .filter((sum) => valueOf(sum, measure) > 0)
    .toSorted((one, other) => valueOf(other, measure) - valueOf(one, measure))
    .map(({ name }) => name)
  return groups.length <= groupsMax + 1 ? groups : [...groups.slice(0, groupsMax), undefined]
}

/** The start of the hour or day of an entry, Unix milliseconds. */
export function startOf(time: string, unit: UsageRange['unit']): number {
  const stepMs = unit === 'hour' ? hourMs : dayMs
  return Math.floor(Date.parse(time) / stepMs) * stepMs
}

/** The hours or days of a range. @param entries where it is tomorrow already, the last day is that of the zone */
export function timesOf(
  { unit, count, last }: UsageRange,
  entries: readonly { readonly time: string }[],
  now: number,
): readonly number[] {
  const stepMs = unit === 'hour' ? hourMs : dayMs
  const present = Math.floor(now / stepMs) * stepMs
  const end = last ?? Math.max(present, ...entries.map(({ time }) => startOf(time, unit)))
  return Array.from({ length: count }, (_, index) => end - (count - 1 - index) * stepMs)
}

/** The kinds of tokens. */
export const tokenKinds = [
  'inputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'outputTokens',
  'reasoningTokens',
] as const satisfies readonly (keyof UsageSum)[]

/** Tokens by kind in each hour or day of a range, without kinds that have none. */
export function kindsData(rows: readonly UsageEntry[], range: UsageRange, now: number): UsageChartData {
  const times = timesOf(range, rows, now)
  const byTime = Map.groupBy(rows, ({ time }) => startOf(time, range.unit))
  const sums = times.map((time) => sumOf('', byTime.get(time) ?? []))
  return {
    times,
    series: tokenKinds
      .map((name) => ({ name, values: sums.map((sum) => sum[name]) }))
      .filter(({ values }) => values.some((value) => value > 0)),
  }
}

/** Failures by class in each hour or day of a range: the most frequent classes, and all others. */
export function failureData(
  failures: readonly FailureEntry[],
  range: UsageRange,
  { of, now, classesMax }: { readonly of: 'requests' | 'attempts'; readonly now: number; readonly classesMax: number },
): UsageChartData {
  const rows = failures
    .filter((each) => each[of] > 0)
    .map(({ time, failure, ...counts }) => ({ ...nothing, time, name: failure, requests: counts[of] }))
  return chartData(rows, range, { measure: 'requests', now, groupsMax: classesMax })
}
