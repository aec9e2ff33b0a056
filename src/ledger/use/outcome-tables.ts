import type { Database } from 'bun:sqlite'
import { addBuckets } from '../../observe/time-histogram.ts'
import type { NamesTable } from './names-table.ts'
import { failureRows, timesRows } from './outcome-rows.ts'
import { readBuckets, writeBuckets } from './time-blob.ts'
import type { UseTotals } from './use-totals.ts'

interface StoredTimes {
  readonly first: Uint8Array
  readonly total: Uint8Array
}

const units = ['hour', 'day'] as const

/** Adds times and failures to the hours and days of a database, within a transaction. */
export function outcomeTables(database: Database): (totals: UseTotals, names: NamesTable) => void {
  const tables = units.map((unit) => ({
    unit,
    find: database.query<StoredTimes, number[]>(
      `SELECT first, total FROM times_${unit} WHERE ${unit} = ?1 AND model = ?2 AND provider = ?3`,
    ),
    put: database.query<unknown, (number | Uint8Array)[]>(
      `INSERT OR REPLACE INTO times_${unit} (${unit}, model, provider, first, total) VALUES (?1, ?2, ?3, ?4, ?5)`,
    ),
    addFailure: database.query<unknown, number[]>(
      `INSERT INTO failure_${unit} (${unit}, model, provider, failure, requests, attempts)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (${unit}, model, provider, failure) DO UPDATE SET
       requests = requests + excluded.requests, attempts = attempts + excluded.attempts`,
    ),
  }))

  return function add({ times, failures }, names) {
    for (const { unit, find, put, addFailure } of tables) {
      for (const { time, model, provider, first, total } of timesRows(times, unit, names)) {
        const known = find.get(time, model, provider)
        if (known !== null) {
          addBuckets(first, readBuckets(known.first))
          addBuckets(total, readBuckets(known.total))
        }
        put.run(time, model, provider, writeBuckets(first), writeBuckets(total))
      }
      for (const { time, model, provider, failure, requests, attempts } of failureRows(failures, unit, names))
        addFailure.run(time, model, provider, failure, requests, attempts)
    }
  }
}
