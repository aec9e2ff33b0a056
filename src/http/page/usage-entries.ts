import type { OutcomeAnswer, OutcomeTimes } from '../../ledger/use/outcome-question.ts'
import type { UseAnswer, UseQuestion, UseRow } from '../../ledger/use/use-question.ts'
import { countTimes, percentileOf, type TimeBuckets } from '../../observe/time-histogram.ts'
import { usdOf } from '../../prices/money.ts'
import { columnName, csvLine } from './csv.ts'
import type { TimesEntry, UsageAnswer, UsageEntry } from './page-api.ts'

/** The answer of `GET /api/usage` (docs/ledger.md). */
export function usageAnswer(
  { unit, by }: Pick<UseQuestion, 'unit' | 'by'>,
  { rows, isCut, timeZone, writtenAt }: UseAnswer,
  outcomes?: OutcomeAnswer,
): UsageAnswer {
  return {
    unit,
    by,
    timeZone,
    ...(writtenAt === undefined ? {} : { writtenAt }),
    ...(isCut ? { isCut } : {}),
    rows: rows.map((row) => usageEntry(row, unit)),
    ...(outcomes === undefined ? {} : outcomeEntries(outcomes, unit)),
  }
}

function outcomeEntries(
  { times, groups, failures }: OutcomeAnswer,
  unit: UseQuestion['unit'],
): Pick<UsageAnswer, 'times' | 'groups' | 'failures'> {
  return {
    times: times.map(({ time, ...buckets }) => ({ time: timeText(time, unit), ...timesEntry(buckets) })),
    groups: groups.map(({ name, ...buckets }) => ({ name, ...timesEntry(buckets) })),
    failures: failures.map(({ time, ...sums }) => ({ time: timeText(time, unit), ...sums })),
  }
}

function timesEntry({ first, total }: OutcomeTimes): TimesEntry {
  return {
    answers: countTimes(total),
    ...percentiles('total', total),
    streams: countTimes(first),
    ...percentiles('firstToken', first),
  }
}

function percentiles(name: 'total' | 'firstToken', buckets: TimeBuckets): Partial<TimesEntry> {
  const [p50, p95] = [percentileOf(buckets, 0.5), percentileOf(buckets, 0.95)]
  return p50 === undefined || p95 === undefined
    ? {}
    : { [`${name}P50`]: Math.round(p50), [`${name}P95`]: Math.round(p95) }
}

function timeText(time: number, unit: UseQuestion['unit']): string {
  return unit === 'hour' ? new Date(time).toISOString() : dateText(time)
}

function usageEntry({ time, name, counters }: UseRow, unit: UseQuestion['unit']): UsageEntry {
  return {
    time: timeText(time, unit),
    name,
    requests: counters.requests,
    errors: counters.errors,
    left: counters.left_early,
    attempts: counters.attempts,
    inputTokens: counters.input,
    cachedTokens: counters.cached,
    cacheWriteTokens: counters.write5 + counters.write60,
    outputTokens: counters.output,
    reasoningTokens: counters.reasoning,
    cost: usdOf(counters.cost),
    reportedCost: usdOf(counters.cost_reported),
    estimatedCost: usdOf(counters.cost_estimated),
    saved: usdOf(counters.saved),
    unpriced: counters.unpriced,
    estimated: counters.estimated,
    unsettled: counters.unsettled,
  }
}

/** Columns of the file, in their order. */
const columns = [
  'time',
  'name',
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
] as const satisfies readonly (keyof UsageEntry)[]

/** The first line of the file. */
export const csvHead = csvLine(columns.map(columnName))

/** Entries as lines of RFC 4180. */
export function csvLines(entries: readonly UsageEntry[]): string {
  return entries.map((entry) => csvLine(columns.map((name) => entry[name]))).join('')
}

/** A date as text. @param day such as 20261123 */
export function dateText(day: number): string {
  const text = String(day).padStart(8, '0')
  return `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`
}

/** A date as a number such as 20261123. @param time Unix milliseconds of its midnight in UTC */
export function dayNumber(time: number): number {
  return Number(new Date(time).toISOString().slice(0, 10).replaceAll('-', ''))
}
