import type { UseAnswer, UseQuestion, UseRow } from '../../ledger/use/use-question.ts'
import { usdOf } from '../../prices/money.ts'
import { columnName, csvLine } from './csv.ts'
import type { UsageAnswer, UsageEntry } from './page-api.ts'

/** The answer of `GET /api/usage` (docs/ledger.md). */
export function usageAnswer(
  { unit, by }: Pick<UseQuestion, 'unit' | 'by'>,
  { rows, isCut, timeZone, writtenAt }: UseAnswer,
): UsageAnswer {
  return {
    unit,
    by,
    timeZone,
    ...(writtenAt === undefined ? {} : { writtenAt }),
    ...(isCut ? { isCut } : {}),
    rows: rows.map((row) => usageEntry(row, unit)),
  }
}

function usageEntry({ time, name, counters }: UseRow, unit: UseQuestion['unit']): UsageEntry {
  return {
    time: unit === 'hour' ? new Date(time).toISOString() : dateText(time),
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
