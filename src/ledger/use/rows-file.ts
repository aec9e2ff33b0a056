import type { Database } from 'bun:sqlite'
import { renameSync, rmSync } from 'node:fs'
import { errorCode } from '../../base/error-code.ts'
import { contentBytes, deleteSomeContent } from '../content/content-file.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { rowMigrations } from '../migrations.ts'
import { identityOf, onlyNumber, openDatabase, performed } from '../open-database.ts'
import { atOnce, type Work } from '../work.ts'
import { rowsOfBatches, type PreparedUse } from './named-use.ts'
import type { ReadBatch } from './use-batch.ts'
import { addRows, beginBatches, forgetSources, type UseKind } from './use-works.ts'

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
  /** Adds the rows of batches in one transaction, except those that were added before. */
  write(prepared: PreparedUse, batches: readonly ReadBatch[]): Promise<void>
  /** Opens the file, so that the first write is as fast as others. */
  prepare(): Promise<void>
  /** Deletes some rows that are too old, or too many. @returns whether there may be more */
  sweep(now: number): Promise<boolean>
  close(): void
}

export interface RowsFileOptions {
  /** Path of requests.db. */
  readonly path: string
  readonly lockMs: number
  readonly kind: UseKind
  readonly retention?: RowRetention
}

/** Opens the rows at their first use. A file that is gone is made anew, a damaged one is renamed. */
export function rowsFile({ path, lockMs, kind, retention = rowRetentionDefault }: RowsFileOptions): RowsFile {
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

  async function add(work: () => Work<void>): Promise<void> {
    const database = await current()
    await performed(path, lockMs, () => database.transaction(() => atOnce(database, work())).immediate())
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
          atOnce(database, forgetSources(time))
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
    write: (prepared, batches) =>
      whole(() =>
        add(function* () {
          const { fresh, time } = yield* beginBatches(batches, kind)
          yield* addRows(rowsOfBatches(prepared, fresh), kind, time)
        }),
      ),
    async prepare() {
      await whole(current)
    },
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
