import { forgottenMark } from '../people/forgotten-mark.ts'
import type { SqlKind } from '../sql-kind.ts'
import { insertRows, numberInRow, sql, statement, textInRow, type Work } from '../work.ts'
import { replaceHolds } from './hold-table.ts'
import { namedUse, type PreparedUse } from './named-use.ts'
import { sumUnits, type TimesRow, type Unit } from './outcome-rows.ts'
import { attemptColumns, requestColumns, requestTexts, type RowValues } from './row-values.ts'
import { addFailures, addSums } from './sums-table.ts'
import type { BatchName, ReadBatch } from './use-batch.ts'

/** Hours older than this are deleted; days are kept. */
const hoursKeptMs = 100 * 86_400_000
/** A source that has written nothing for this time has ended. */
const sourcesKeptMs = 30 * 86_400_000

/** The tables of sums by hour. */
const hourTables = ['usage_hour', 'usage_session', 'times_hour', 'failure_hour'] as const

/** What differs between the use in SQLite and in PostgreSQL. */
export interface UseKind extends SqlKind {
  /** Adds buckets of times, each place once, to hours or days. */
  readonly addTimes: (unit: Unit, rows: readonly TimesRow[]) => Work<void>
  /** Takes numbers for new rows. */
  readonly rowNumbers: (count: number) => Work<readonly number[]>
  /** Rows have the time at which they are stored: they are kept in parts by it. */
  readonly rowsHaveTime: boolean
}

/** A person was forgotten, or the database was replaced: numbers of names must be looked up again. */
export class NamesOutdated extends Error {
  override readonly name = 'NamesOutdated'
}

/** Batches that count now. */
export interface FreshBatches<Batch> {
  /** Those that were not written before. */
  readonly fresh: readonly Batch[]
  /** The time of the database. Unix milliseconds. */
  readonly time: number
}

const batchColumns = { columns: ['source text', 'number', 'time'], keys: 1 }
/** A source must be there to be locked: a transaction whose end is unknown may still add it. */
const lockSources = insertRows(
  'batch',
  batchColumns,
  statement('ON CONFLICT (source) DO UPDATE SET time = batch.time RETURNING source, number'),
)

/** Locks the sources of batches, whose last numbers are stored in the transaction that adds their requests. */
export function* beginBatches<Batch extends BatchName>(
  batches: readonly Batch[],
  { now }: UseKind,
): Work<FreshBatches<Batch>> {
  const sources = [...new Set(batches.map(({ source }) => source))]
  const known = yield lockSources(sources.map((source) => [source, 0, 0]))
  const last = new Map(known.map((row) => [String(row['source']), numberInRow(row, 'number')]))
  const fresh = batches.filter(({ source, number }) => {
    if (number <= (last.get(source) ?? 0)) return false
    last.set(source, number)
    return true
  })
  const numberSources = insertRows(
    'batch',
    batchColumns,
    sql`ON CONFLICT (source) DO UPDATE SET number = excluded.number, time = ${now()} RETURNING time`,
  )
  const [written] = yield numberSources(Array.from(last, ([source, number]) => [source, number, 0]))
  return { fresh, time: numberInRow(written, 'time') }
}

/**
 * Adds sums and holds of those batches that were not added before, within a transaction.
 *
 * @throws {NamesOutdated}
 */
export function* addUse(prepared: PreparedUse, kind: UseKind): Work<FreshBatches<ReadBatch>> {
  const { batches, hours, names } = prepared
  const begun = yield* beginBatches(batches, kind)
  yield* checkMeta(names.mark, hours.zone)
  const isWhole = begun.fresh.length === batches.length
  const { sums, times, failures, holds } = isWhole ? prepared.use : namedUse(begun.fresh, hours, names)
  const taken = yield* replaceHolds(holds)
  yield* addSums([...taken, ...sums])
  for (const unit of sumUnits) {
    yield* kind.addTimes(unit, times[unit])
    yield* addFailures(unit, failures[unit])
  }
  return begun
}

/** The mark of the people that were forgotten: a person who comes back is a new one, with another number. */
export function* forgottenPeople(): Work<string> {
  const [row] = yield sql`SELECT value FROM meta WHERE name = ${forgottenMark}`
  return row === undefined ? '' : String(row['value'])
}

/** Readers name the zone. @throws {NamesOutdated} */
function* checkMeta(mark: string | undefined, zone: string): Work<void> {
  const rows = yield sql`SELECT name, value FROM meta WHERE name IN (${forgottenMark}, 'time_zone')`
  const values = new Map(rows.map((row) => [textInRow(row, 'name'), textInRow(row, 'value')]))
  if ((values.get(forgottenMark) ?? '') !== mark) throw new NamesOutdated('numbers of names must be looked up again')
  if (values.get('time_zone') === zone) return
  yield sql`INSERT INTO meta (name, value) VALUES ('time_zone', ${zone})
            ON CONFLICT (name) DO UPDATE SET value = excluded.value`
}

const rowsTo = { withTime: rowInserts(['stored', 'seq']), withoutTime: rowInserts(['seq']) }

function rowInserts(places: readonly string[]) {
  const columns = requestColumns.map((name) => (requestTexts.has(name) ? `${name} text` : name))
  return {
    requests: insertRows('request', { columns: [...places, ...columns] }),
    attempts: insertRows('attempt', { columns: [...places, ...attemptColumns] }),
  }
}

/** Adds requests and their attempts, within a transaction. @param time at which they are stored, Unix milliseconds */
export function* addRows(rows: readonly RowValues[], { rowNumbers, rowsHaveTime }: UseKind, time: number): Work<void> {
  if (rows.length === 0) return
  const numbers = yield* rowNumbers(rows.length)
  const { requests, attempts } = rowsTo[rowsHaveTime ? 'withTime' : 'withoutTime']
  const placed = (index: number, values: RowValues['request']): RowValues['request'] =>
    rowsHaveTime ? [time, numbers[index] ?? 0, ...values] : [numbers[index] ?? 0, ...values]
  yield requests(rows.map(({ request }, index) => placed(index, request)))
  yield attempts(rows.flatMap((row, index) => row.attempts.map((values) => placed(index, values))))
}

/** Deletes sources that have ended. @param now Unix milliseconds */
export function* forgetSources(now: number): Work<void> {
  yield sql`DELETE FROM batch WHERE time < ${now - sourcesKeptMs}`
}

/**
 * Deletes some old hours, and booked holds of sources that have ended, within a transaction.
 *
 * @param now Unix milliseconds
 * @returns whether there may be more
 */
export function* sweepSums(now: number): Work<boolean> {
  yield* forgetSources(now)
  yield statement('DELETE FROM hold WHERE booked_hour IS NOT NULL AND source NOT IN (SELECT source FROM batch)')
  let hasMore = false
  // One hour at a time: its rows are few, and other processes wait for the lock.
  for (const table of hourTables.map((name) => statement(name))) {
    const deleted = yield sql`DELETE FROM ${table}
      WHERE hour = (SELECT min(hour) FROM ${table}) AND hour < ${now - hoursKeptMs} RETURNING hour`
    hasMore ||= deleted.length > 0
  }
  return hasMore
}
