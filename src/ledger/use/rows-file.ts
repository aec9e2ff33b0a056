import type { Database } from 'bun:sqlite'
import { renameSync, rmSync } from 'node:fs'
import { errorCode } from '../../base/error-code.ts'
import { contentBytes, deleteSomeContent } from '../content/content-file.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { rowMigrations } from '../migrations.ts'
import { identityOf, onlyNumber, openDatabase, performed } from '../open-database.ts'
import { batchNames } from './batch-names.ts'
import type { NamesTable } from './names-table.ts'
import { attemptColumns, attemptValues, requestColumns, requestValues } from './row-values.ts'
import type { ChargedRequest, ReadUse } from './use-batch.ts'

/** How much of the rows is kept. */
export interface RowRetention {
  readonly ageMs: number
  readonly bytes: number
}

/** 30 days, or 2 GiB. */
export const rowRetentionDefault: RowRetention = { ageMs: 30 * 86_400_000, bytes: 2 * 1024 ** 3 }

/** Rows deleted in one transaction. */
const chunkRows = 2_000
/** Pages of 4 KiB given back to the file system at a time. */
const chunkPages = 1_024

/** Requests in requests.db. Methods reject with {@link LedgerUnavailable} when the database cannot be used. */
export interface RowsFile {
  /** Adds batches in one transaction, except those that were added before. */
  write(batches: readonly ReadUse[], names: NamesTable): Promise<void>
  /** Deletes some rows that are too old, or too many. @returns whether there may be more */
  sweep(now: number): Promise<boolean>
  close(): void
}

export interface RowsFileOptions {
  /** Path of requests.db. */
  readonly path: string
  readonly lockMs: number
  readonly now: () => number
  readonly retention?: RowRetention
}

/** Opens the rows at their first use. A file that is gone is made anew, a damaged one is renamed. */
export function rowsFile({ path, lockMs, now, retention = rowRetentionDefault }: RowsFileOptions): RowsFile {
  let file: { readonly database: Database; readonly identity: string } | undefined
  const replaced: unknown[] = []

  async function current(): Promise<Database> {
    if (file !== undefined && file.identity === currentIdentity()) return file.database
    replaced.push(file)
    const database = await openDatabase({ path, migrations: rowMigrations, lockMs, isDispensable: true })
    file = { database, identity: identityOf(path) }
    return database
  }

  function currentIdentity(): string | undefined {
    try {
      return identityOf(path)
    } catch {
      return undefined
    }
  }

  /** Rows may be lost: a damaged file is put aside, once. */
  async function whole<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      if (!isDamaged(error)) throw error
      replaced.push(file)
      file = undefined
      for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
      renameSync(path, `${path}.damaged`)
      return await work()
    }
  }

  async function add(batches: readonly ReadUse[], names: NamesTable): Promise<void> {
    const database = await current()
    const addRow = rowsTable(database)
    const known = batchNames(database, now)
    await performed(path, lockMs, () =>
      database
        .transaction(() => {
          for (const batch of batches) {
            if (!known.begin(batch)) continue
            for (const request of batch.requests) addRow(request, names)
          }
        })
        .immediate(),
    )
  }

  async function deleteChunk(time: number): Promise<boolean> {
    const database = await current()
    return await performed(path, lockMs, () => {
      const used = onlyNumber(database, 'PRAGMA page_count') - onlyNumber(database, 'PRAGMA freelist_count')
      const bytes = used * onlyNumber(database, 'PRAGMA page_size') - contentBytes(database)
      const isTooLarge = bytes > retention.bytes
      const which = isTooLarge
        ? `SELECT seq FROM request ORDER BY seq LIMIT ${chunkRows}`
        : `SELECT seq FROM request WHERE time < ${time - retention.ageMs} ORDER BY time LIMIT ${chunkRows}`
      const deleted = database
        .transaction(() => {
          batchNames(database, now).forget()
          database.run(`DELETE FROM attempt WHERE seq IN (${which})`)
          const { changes } = database.run(`DELETE FROM request WHERE seq IN (${which})`)
          return deleteSomeContent(database, time) || changes > 0
        })
        .immediate()
      // Each step of the statement frees one page.
      if (deleted) database.query(`PRAGMA incremental_vacuum(${chunkPages})`).all()
      return deleted
    })
  }

  return {
    write: (batches, names) => whole(() => add(batches, names)),
    sweep: (time) => whole(() => deleteChunk(time)),
    close() {
      file?.database.close()
      file = undefined
    },
  }
}

function isDamaged(error: unknown): boolean {
  if (!(error instanceof LedgerUnavailable)) return false
  return /^SQLITE_(CORRUPT|NOTADB)/.test(errorCode(error.cause) ?? '')
}

/** Adds requests and their attempts to a database, within a transaction. */
function rowsTable(database: Database): (request: ChargedRequest, names: NamesTable) => void {
  const addRequest = database.query<unknown, (string | number | null)[]>(
    `INSERT INTO request (${requestColumns.join(', ')}) VALUES (${placesOf(requestColumns)})`,
  )
  const addAttempt = database.query<unknown, (string | number | bigint | null)[]>(
    `INSERT INTO attempt (seq, ${attemptColumns.join(', ')}) VALUES (${placesOf(['seq', ...attemptColumns])})`,
  )

  return function add(request, names) {
    const { lastInsertRowid } = addRequest.run(...requestValues(request, names))
    for (const values of attemptValues(request, names)) addAttempt.run(lastInsertRowid, ...values)
  }
}

function placesOf(columns: readonly string[]): string {
  return columns.map((_, index) => `?${index + 1}`).join(', ')
}
