import type { UsageAnswer, UsageEntry } from '../../src/http/page/page-api.ts'

/** A span of time that the view offers. */
export interface UsageRange {
  readonly label: string
  readonly unit: 'hour' | 'day'
  /** Number of hours or days, with the present one. */
  readonly count: number
}

/** The spans of time. */
export const usageRanges = [
  { label: '24 hours', unit: 'hour', count: 24 },
  { label: '7 days', unit: 'day', count: 7 },
  { label: '30 days', unit: 'day', count: 30 },
  { label: '90 days', unit: 'day', count: 90 },
] as const satisfies readonly UsageRange[]

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The query of a range. @param now Unix milliseconds */
export function usageQuery({ unit, count }: UsageRange, by: UsageAnswer['by'], now: number): string {
  const first = now - (count - 1) * (unit === 'hour' ? hourMs : dayMs)
  const time = new Date(first).toISOString()
  const from = unit === 'hour' ? `${time.slice(0, 13)}:00:00Z` : time.slice(0, 10)
  return `unit=${unit}&from=${from}&by=${by}`
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
export type Measure = 'cost' | 'requests' | 'tokens'

/** The value of a measure. */
export function valueOf(sum: UsageSum, measure: Measure): number {
  return measure === 'tokens' ? tokensOf(sum) : sum[measure]
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
 * The values of the largest groups, and of all others together, in each hour or day of a range.
 *
 * @param groupsMax groups with a series of their own
 */
export function chartData(
  rows: readonly UsageEntry[],
  { unit, count }: UsageRange,
  { measure, now, groupsMax }: { readonly measure: Measure; readonly now: number; readonly groupsMax: number },
): UsageChartData {
  const stepMs = unit === 'hour' ? hourMs : dayMs
  const present = Math.floor(now / stepMs) * stepMs
  const timeOf = (entry: UsageEntry): number => Math.floor(Date.parse(entry.time) / stepMs) * stepMs
  // Where it is tomorrow already, the last day is that of the zone.
  const last = Math.max(present, ...rows.map(timeOf))
  const times = Array.from({ length: count }, (_, index) => last - (count - 1 - index) * stepMs)
  const largest = groupSums(rows)
    .toSorted((one, other) => valueOf(other, measure) - valueOf(one, measure))
    .slice(0, groupsMax)
    .map(({ name }) => name)
  const named = Map.groupBy(rows, ({ name }) => (largest.includes(name) ? name : undefined))
  const names = named.has(undefined) ? [...largest, undefined] : largest
  return {
    times,
    series: names.map((name) => {
      const byTime = Map.groupBy(named.get(name) ?? [], timeOf)
      return { name, values: times.map((time) => valueOf(sumOf('', byTime.get(time) ?? []), measure)) }
    }),
  }
}
