import { addBuckets } from '../../observe/time-histogram.ts'
import { literalSql, sql, type Sql } from '../sql.ts'
import type { OutcomeAnswer, OutcomeQuestion } from './outcome-question.ts'
import { labelTexts, type TableReader, type TableRow } from './stored-requests.ts'

/** Options of {@link outcomeReader}. */
export interface OutcomeReaderOptions {
  readonly tables: TableReader
  /** A column of buckets in a statement. */
  readonly bucketColumn: (name: 'first' | 'total') => Sql
  readonly readBuckets: (value: unknown) => number[]
}

/** Reads speed and failures. The statements are those of SQLite and PostgreSQL alike. */
export function outcomeReader({
  tables,
  bucketColumn,
  readBuckets,
}: OutcomeReaderOptions): (question: OutcomeQuestion) => Promise<OutcomeAnswer> {
  /** Merges rows by the value of a column. */
  function merged(rows: readonly TableRow[], column: string) {
    const found = new Map<number, { readonly first: number[]; readonly total: number[] }>()
    for (const row of rows) {
      const key = Number(row[column])
      const sum = found.get(key) ?? { first: [], total: [] }
      addBuckets(sum.first, readBuckets(row['first']))
      addBuckets(sum.total, readBuckets(row['total']))
      found.set(key, sum)
    }
    return found
  }

  return async function read({ from, to, unit, by }) {
    const time = literalSql(unit)
    const rows = await tables(
      sql`SELECT ${time} AS time, model, provider, ${bucketColumn('first')} AS first, ${bucketColumn('total')} AS total
          FROM ${literalSql(`times_${unit}`)} WHERE ${time} BETWEEN ${from} AND ${to}`,
    )
    const failures = await tables(
      sql`SELECT ${time} AS time, failure, sum(requests) AS requests, sum(attempts) AS attempts
          FROM ${literalSql(`failure_${unit}`)} WHERE ${time} BETWEEN ${from} AND ${to}
          GROUP BY 1, 2 ORDER BY 1, 3 DESC, 4 DESC, 2`,
    )
    const groups = by === 'all' ? [] : [...merged(rows, by)]
    const names = await labelTexts(tables, [
      ...groups.map(([id]) => id),
      ...failures.map(({ failure }) => Number(failure)),
    ])
    return {
      times: Array.from(merged(rows, 'time'), ([at, sum]) => ({ time: at, ...sum })).toSorted(
        (one, other) => one.time - other.time,
      ),
      groups: groups.map(([id, sum]) => ({ name: names(id), ...sum })),
      failures: failures.map((row) => ({
        time: Number(row['time']),
        failure: names(Number(row['failure'])),
        requests: Number(row['requests']),
        attempts: Number(row['attempts']),
      })),
    }
  }
}
