import { addBuckets } from '../../observe/time-histogram.ts'
import { sql, statement, type WorkRow } from '../work.ts'
import type { OutcomeAnswer, OutcomeQuestion } from './outcome-question.ts'
import { labelTexts, type NameTables } from './stored-requests.ts'

/** Reads speed and failures. */
export function outcomeReader(tables: NameTables): (question: OutcomeQuestion) => Promise<OutcomeAnswer> {
  const {
    names: read,
    kind: { buckets, readBuckets },
  } = tables
  const readRow = (row: WorkRow) => ({
    time: Number(row['time']),
    model: Number(row['model']),
    provider: Number(row['provider']),
    first: readBuckets(row['first']),
    total: readBuckets(row['total']),
  })

  /** Merges rows by the value of a column. */
  function merged(rows: readonly ReturnType<typeof readRow>[], column: 'time' | 'model' | 'provider') {
    const found = new Map<number, { readonly first: number[]; readonly total: number[] }>()
    for (const row of rows) {
      const sum = found.get(row[column]) ?? { first: [], total: [] }
      addBuckets(sum.first, row.first)
      addBuckets(sum.total, row.total)
      found.set(row[column], sum)
    }
    return found
  }

  return async function outcomes({ from, to, unit, by }) {
    const time = statement(unit)
    const stored = await read(
      sql`SELECT ${time} AS time, model, provider, ${buckets('first')} AS first, ${buckets('total')} AS total
          FROM ${statement(`times_${unit}`)} WHERE ${time} BETWEEN ${from} AND ${to}`,
    )
    const rows = stored.map(readRow)
    const failures = await read(
      sql`SELECT ${time} AS time, failure, sum(requests) AS requests, sum(attempts) AS attempts
          FROM ${statement(`failure_${unit}`)} WHERE ${time} BETWEEN ${from} AND ${to}
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
