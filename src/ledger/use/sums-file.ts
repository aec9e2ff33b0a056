import type { Database } from 'bun:sqlite'
import { addBuckets } from '../../observe/time-histogram.ts'
import type { HeldBy } from '../../observe/under-way.ts'
import { LedgerTooNew } from '../ledger.ts'
import { migrations } from '../migrations.ts'
import { identityOf, onlyNumber, openDatabase, performed } from '../open-database.ts'
import { forgottenMark } from '../people/forgotten-mark.ts'
import { batchNames } from './batch-names.ts'
import { holdTable, type HoldTable } from './hold-table.ts'
import { namesTable, type NamesTable } from './names-table.ts'
import { failureRows, timesRows } from './outcome-rows.ts'
import { identifiedSum, sumsTable } from './sums-table.ts'
import { readBuckets, writeBuckets } from './time-blob.ts'
import type { ReadBatch } from './use-batch.ts'
import { useSums } from './use-sums.ts'
import type { UseTotals } from './use-totals.ts'
import type { ZoneHours } from './zone-hours.ts'

/** Hours older than this are deleted; days are kept. */
const hoursKeptMs = 100 * 86_400_000

/** The tables of sums by hour. */
export const hourTables = ['usage_hour', 'times_hour', 'failure_hour'] as const

/** The sums of use in svc.db. Methods reject with {@link LedgerUnavailable} when the database cannot be used. */
export interface SumsFile {
  /** Adds batches in one transaction, except those that were added before. */
  write(batches: readonly ReadBatch[], hours: ZoneHours): Promise<void>
  /** The ids of names. New names are stored at once. */
  names(): Promise<NamesTable>
  /** Books the holds of dead processes. @returns whether others are open */
  bookDead(hours: ZoneHours): Promise<boolean>
  /** Deletes some old hours. @returns whether there may be more */
  sweep(now: number): Promise<boolean>
  close(): void
}

interface OpenSums {
  readonly database: Database
  readonly identity: string
  readonly add: ReturnType<typeof sumsTable>
  readonly addOutcomes: ReturnType<typeof outcomeTables>
  readonly batches: ReturnType<typeof batchNames>
  readonly holds: HoldTable
}

export interface SumsFileOptions {
  /** Path of svc.db. */
  readonly path: string
  readonly lockMs: number
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Opens the sums at their first use, and again when the file is replaced. */
export function sumsFile({ path, lockMs, now }: SumsFileOptions): SumsFile {
  let file: OpenSums | undefined
  let names: NamesTable | undefined
  /** As it was when the names were read. */
  let mark: unknown
  /** Closing a connection to a replaced file would remove the write-ahead log of the new one. */
  const replaced: OpenSums[] = []

  async function current(): Promise<OpenSums> {
    if (file !== undefined) {
      const { identity } = file
      if ((await performed(path, 0, () => identityOf(path))) === identity) return file
      replaced.push(file)
      file = undefined
      names = undefined
    }
    const database = await openDatabase({ path, migrations, lockMs })
    file = {
      ...{ database, identity: identityOf(path), addOutcomes: outcomeTables(database) },
      ...{ add: sumsTable(database), batches: batchNames(database, now), holds: holdTable(database, now) },
    }
    return file
  }

  async function transaction<Value>(work: (open: OpenSums, names: NamesTable) => Value): Promise<Value> {
    const open = await current()
    return await performed(path, lockMs, () => {
      try {
        return open.database
          .transaction(() => {
            checkVersion(open.database, path)
            return work(open, currentNames(open.database))
          })
          .immediate()
      } catch (error) {
        names = undefined // It may know ids that were rolled back.
        throw error
      }
    })
  }

  /** A person who was forgotten and comes back is a new one. */
  function currentNames(database: Database): NamesTable {
    const [[found] = []] = database
      .query<unknown, [string]>('SELECT value FROM meta WHERE name = ?1')
      .values(forgottenMark)
    if (found !== mark) names = undefined
    mark = found
    return (names ??= namesTable(database, now))
  }

  return {
    async write(batches, hours) {
      await transaction((open, known) => {
        const sums = useSums()
        const holds = new Map<string, HeldBy>()
        for (const batch of batches) {
          if (!open.batches.begin(batch)) continue
          if (batch.holds !== undefined) holds.set(batch.source, batch.holds)
          sums.add(batch, hours)
        }
        for (const [source, held] of holds) open.add(open.holds.replace(source, held, known))
        const totals = sums.totals()
        open.add(totals.use.map((sum) => identifiedSum(sum, known)))
        open.addOutcomes(totals, known)
        noteZone(open.database, hours.zone)
      })
    },
    bookDead: (hours) =>
      transaction(({ add, holds }) => {
        add(holds.book(hours.at(now())))
        return holds.hasOpen()
      }),
    async names() {
      const { database } = await current()
      return await performed(path, lockMs, () => currentNames(database))
    },
    sweep: (time) =>
      transaction(({ database, batches, holds }) => {
        batches.forget()
        holds.forget()
        // One hour at a time: its rows are few, and other processes wait for the lock.
        const deleted = hourTables.map(
          (table) =>
            database.run(`DELETE FROM ${table} WHERE hour = (SELECT min(hour) FROM ${table}) AND hour < ?1`, [
              time - hoursKeptMs,
            ]).changes,
        )
        return deleted.some((count) => count > 0)
      }),
    close() {
      file?.database.close()
      file = undefined
    },
  }
}

/** Readers name the zone. */
function noteZone(database: Database, zone: string): void {
  database.run(
    `INSERT INTO meta (name, value) VALUES ('time_zone', ?1)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`,
    [zone],
  )
}

/** A newer svc may have changed the database while this one runs. @throws {LedgerTooNew} */
function checkVersion(database: Database, path: string): void {
  const version = onlyNumber(database, 'PRAGMA user_version')
  if (version > migrations.length)
    throw new LedgerTooNew(`a newer svc has changed ${path} to schema ${version}: restart this service with it`)
}

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
