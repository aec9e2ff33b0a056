import { addBuckets } from '../../observe/time-histogram.ts'
import { fileSql } from '../sql-kind.ts'
import { forRows, givenRows, insertRows, numberInRow, sql, statement, type Work, type WorkRow } from '../work.ts'
import type { TimesRow, Unit } from './outcome-rows.ts'
import { readBuckets, writeBuckets } from './time-blob.ts'
import type { UseKind } from './use-works.ts'

/** The use in SQLite. @param now Unix milliseconds */
export function fileUse(now: () => number): UseKind {
  return { ...fileSql, now: () => sql`${now()}`, addTimes, rowNumbers, rowsHaveTime: false }
}

const timesOf = { hour: timesStatements('hour'), day: timesStatements('day') }

function timesStatements(unit: Unit) {
  const columns = [unit, 'model', 'provider']
  const [table, keys] = [`times_${unit}`, statement(columns.join(', '))]
  return {
    find: forRows(
      sql`SELECT ${statement(unit)} AS time, model, provider, first, total FROM ${statement(table)}
          WHERE (${keys}) IN (${givenRows})`,
      { columns },
    ),
    put: insertRows(
      table,
      { columns: [...columns, 'first', 'total'] },
      sql`ON CONFLICT (${keys}) DO UPDATE SET first = excluded.first, total = excluded.total`,
    ),
  }
}

/** Buckets are bytes, which are read, added up and written. */
function* addTimes(unit: Unit, rows: readonly TimesRow[]): Work<void> {
  const { find, put } = timesOf[unit]
  const found = yield find(rows.map(({ time, model, provider }) => [time, model, provider]))
  const known = new Map(
    found.map((row) => [
      `${numberInRow(row, 'time')} ${numberInRow(row, 'model')} ${numberInRow(row, 'provider')}`,
      row,
    ]),
  )
  yield put(
    rows.map(({ time, model, provider, first, total }) => {
      const before = known.get(`${time} ${model} ${provider}`)
      return [time, model, provider, added(first, before, 'first'), added(total, before, 'total')]
    }),
  )
}

function added(buckets: readonly number[], before: WorkRow | undefined, column: 'first' | 'total'): Uint8Array {
  const bytes = before?.[column]
  if (!(bytes instanceof Uint8Array)) return writeBuckets(buckets)
  const sum = readBuckets(bytes)
  addBuckets(sum, buckets)
  return writeBuckets(sum)
}

/** The numbers that SQLite would give. */
function* rowNumbers(count: number): Work<readonly number[]> {
  const [row] = yield statement('SELECT max(seq) AS last FROM request')
  const last = numberInRow(row, 'last')
  return Array.from({ length: count }, (_, index) => last + 1 + index)
}
