import { insertRows, nameOfColumn, statement, type Statement, type Work } from '../work.ts'
import type { UseKey } from './charges.ts'
import { counterNames } from './counters.ts'
import { sumUnits, type FailureRow, type Unit } from './outcome-rows.ts'
import type { UseNames } from './use-names.ts'
import type { UseSum } from './use-totals.ts'

/** The columns of the names that a sum is kept by. */
export const sumKeyColumns = ['line', 'person', 'team', 'model', 'provider'] as const

/** A sum in the order of its columns, with the ids of its names. */
export interface IdentifiedSum {
  readonly hour: number
  readonly day: number
  /** Absent: none was named. */
  readonly session?: string | undefined
  /** Values of {@link sumKeyColumns}, then of the counters. */
  readonly values: readonly number[]
}

/** The sum with the ids of its names. */
export function identifiedSum({ hour, day, session, counters, ...key }: UseSum, names: UseNames): IdentifiedSum {
  return { hour, day, session, values: [...keyValues(key, names), ...counterNames.map((name) => counters[name] ?? 0)] }
}

/** Values of {@link sumKeyColumns}. */
export function keyValues({ line, person, team = '', model, provider }: UseKey, names: UseNames): readonly number[] {
  return [
    line,
    names.idOfPerson(person),
    names.idOf('team', team),
    names.idOf('model', model),
    names.idOf('provider', provider),
  ]
}

const keysOfSums = 1 + sumKeyColumns.length
const sumsTo = {
  hour: countsTo('usage_hour', ['hour', ...sumKeyColumns], counterNames),
  day: countsTo('usage_day', ['day', ...sumKeyColumns], counterNames),
  session: countsTo('usage_session', ['hour', 'session text', 'day', ...sumKeyColumns], counterNames),
}
const failureCounts = ['requests', 'attempts'] as const
const failuresTo = {
  hour: countsTo('failure_hour', ['hour', 'model', 'provider', 'failure'], failureCounts),
  day: countsTo('failure_day', ['day', 'model', 'provider', 'failure'], failureCounts),
}

/** Adds counts, each key once. */
function countsTo(
  table: string,
  keys: readonly string[],
  counts: readonly string[],
): (rows: readonly (readonly (number | string)[])[]) => Statement {
  const added = counts.map((name) => `${name} = ${table}.${name} + excluded.${name}`)
  return insertRows(
    table,
    { columns: [...keys, ...counts], keys: keys.length },
    statement(`ON CONFLICT (${keys.map(nameOfColumn).join(', ')}) DO UPDATE SET ${added.join(', ')}`),
  )
}

/** Adds sums to hours, days and sessions, within a transaction. */
export function* addSums(sums: readonly IdentifiedSum[]): Work<void> {
  for (const unit of sumUnits) {
    const rows = sums.map((sum) => [sum[unit], ...sum.values])
    yield sumsTo[unit](merged(rows, keysOfSums))
  }
  const ofSessions = sums.flatMap(({ hour, day, session, values }) =>
    session === undefined ? [] : [[hour, session, day, ...values]],
  )
  if (ofSessions.length > 0) yield sumsTo.session(merged(ofSessions, keysOfSums + 2))
}

/** Adds failures, each place once, to hours or days, within a transaction. */
export function* addFailures(unit: Unit, failures: readonly FailureRow[]): Work<void> {
  yield failuresTo[unit](
    failures.map(({ time, model, provider, failure, requests, attempts }) => [
      ...[time, model, provider, failure, requests, attempts],
    ]),
  )
}

/** Rows with the same first values as one row, whose further values are added. @param rows are changed */
export function merged(rows: readonly (number | string)[][], keys: number): readonly (readonly (number | string)[])[] {
  const sums = new Map<string, (number | string)[]>()
  for (const row of rows) {
    let key = ''
    for (let index = 0; index < keys; index += 1) key += `${row[index]} `
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, row)
    else for (let index = keys; index < row.length; index += 1) sum[index] = Number(sum[index]) + Number(row[index])
  }
  return [...sums.values()]
}
