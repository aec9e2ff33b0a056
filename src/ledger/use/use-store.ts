import { closeSync, existsSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../../base/error-code.ts'
import { LedgerTooNew, LedgerUnavailable } from '../ledger.ts'
import { fileUse } from './file-use.ts'
import { bookDead } from './hold-table.ts'
import type { PreparedUse } from './named-use.ts'
import { rowsFile, type RowRetention } from './rows-file.ts'
import { sumsFile } from './sums-file.ts'
import { readBatch, type ReadBatch, type UseBatch } from './use-batch.ts'
import { addUse, forgottenPeople, sweepSums } from './use-works.ts'
import { UseWriter } from './use-writer.ts'

/** Outcome of {@link UseStore.write}. */
export interface WriteResult {
  /** Absent: the sums are written. Else the cause and the way out; then no row is written either. */
  readonly sumsProblem?: string
  /** With a problem: the batches may be written all the same. */
  readonly isUnknown?: true
  /** Absent: the rows are written. */
  readonly rowsProblem?: string
  /** The rows cannot be written by trying again. */
  readonly areRowsLost?: true
}

/** The use in a database. Methods do not reject. */
export interface UseStore {
  /** Opens the files, so that the first write is as fast as others. */
  prepare(): Promise<void>
  /**
   * Books the holds of dead processes at their estimates.
   *
   * @returns whether there are holds that are not booked, or the database cannot be used
   */
  bookDead(): Promise<boolean>
  /**
   * Writes sums and holds in one transaction, then rows in one. Batches that were written before are not counted again.
   */
  write(batches: readonly UseBatch[]): Promise<WriteResult>
  /** Sums are cut at the hours and days of this time zone from now on. @throws {RangeError} for an unknown zone */
  setZone(zone: string): void
  /** Deletes some old rows and hours. @returns whether there may be more */
  sweep(): Promise<boolean>
  close(): void | Promise<void>
}

export interface UseStoreOptions {
  /** Path of svc.db. */
  readonly path: string
  /** Path of requests.db. */
  readonly rowsPath: string
  /** IANA name. */
  readonly zone: string
  /** Limit of waiting for a lock, in milliseconds. Default 200. */
  readonly lockMs?: number
  /** Unix milliseconds. */
  readonly now?: () => number
  readonly retention?: RowRetention
}

/** The use in svc.db and requests.db. Opens the files at their first use. */
export function useStore({
  path,
  rowsPath,
  zone,
  lockMs = 200,
  now = Date.now,
  ...options
}: UseStoreOptions): UseStore {
  const kind = fileUse(now)
  const sums = sumsFile({ path, lockMs, onReplaced: () => writer.forgetNames() })
  const writer = new UseWriter({ perform: sums.perform, zone, now })
  const rows = rowsFile({ path: rowsPath, lockMs, kind, ...options })
  const reserve = reserveFile(`${path}-reserve`)
  /** The reserve was given up to the sums: rows must not use it. */
  let isShort = false

  function writeSums(batches: readonly ReadBatch[]): Promise<PreparedUse> {
    return writer.write(batches, async (prepared) => {
      await sums.perform(() => addUse(prepared, kind))
      return prepared
    })
  }

  async function writeSumsAnyhow(batches: readonly ReadBatch[]): Promise<PreparedUse> {
    try {
      return await writeSums(batches)
    } catch (error) {
      if (!isDiskFull(error) || !reserve.release()) throw error
      isShort = true
      return await writeSums(batches)
    }
  }

  return {
    async prepare() {
      try {
        await sums.perform(forgottenPeople)
        await rows.prepare()
        reserve.make()
      } catch {
        // The next write reports the trouble.
      }
    },
    async bookDead() {
      try {
        return await sums.perform(() => bookDead(writer.hours, kind))
      } catch {
        return true // The next write reports the trouble.
      }
    },
    async write(written) {
      let prepared: PreparedUse
      try {
        prepared = await writeSumsAnyhow(written.map(readBatch))
      } catch (error) {
        return { sumsProblem: reasonOf(error) }
      }
      const recorded = prepared.batches.filter((batch) => 'requests' in batch && batch.requests.length > 0)
      if (recorded.length === 0) return {}
      if (isShort) return { rowsProblem: `the disk of ${rowsPath} is nearly full: free space`, areRowsLost: true }
      try {
        await rows.write(prepared, recorded)
        return {}
      } catch (error) {
        const areLost = isDiskFull(error) || !(error instanceof LedgerUnavailable)
        return { rowsProblem: reasonOf(error), ...(areLost ? { areRowsLost: true } : {}) }
      }
    },
    setZone: (next) => writer.setZone(next),
    async sweep() {
      try {
        const time = now()
        const [moreHours, moreRows] = [await sums.perform(() => sweepSums(time)), await rows.sweep(time)]
        if (!moreHours && !moreRows && reserve.make()) isShort = false
        return moreHours || moreRows
      } catch {
        return false // The next write reports the trouble.
      }
    },
    close() {
      sums.close()
      rows.close()
    },
  }
}

function isDiskFull(error: unknown): boolean {
  return /^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(errorCode(error instanceof Error ? error.cause : undefined) ?? '')
}

function reasonOf(error: unknown): string {
  if (error instanceof LedgerUnavailable || error instanceof LedgerTooNew) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

const bytes = 8 * 1024 * 1024
/** The reserve is made only if this much space is left beside it. */
const spareBytes = 64 * 1024 * 1024

/** Space that is given up when the disk is full, so that sums and ends of keys can still be written. */
interface ReserveFile {
  /** Makes the file, unless it exists or the disk is nearly full. Never throws. @returns whether it exists */
  make(): boolean
  /** @returns whether there was a file */
  release(): boolean
}

/** The reserve at a path. */
function reserveFile(path: string): ReserveFile {
  function remove(): void {
    rmSync(path, { force: true })
  }

  return {
    make() {
      try {
        const { bavail, bsize } = statfsSync(dirname(path))
        if (existsSync(path)) return true
        if (bavail * bsize < bytes + spareBytes) return false
        const descriptor = openSync(path, 'w', 0o600)
        try {
          // Written, not extended: only blocks that exist can be given up.
          const block = new Uint8Array(1024 * 1024)
          for (let written = 0; written < bytes; written += block.length) writeSync(descriptor, block)
        } finally {
          closeSync(descriptor)
        }
        return true
      } catch {
        remove() // Without a reserve the service works as well.
        return false
      }
    },
    release() {
      const wasThere = existsSync(path)
      remove()
      return wasThere
    },
  }
}
