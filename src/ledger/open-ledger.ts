import type { Database } from 'bun:sqlite'
import { auditTable } from './audit-table.ts'
import { openStamp, type ChangeStamp } from './change-stamp.ts'
import { keyTable, type LedgerDatabase } from './key-table.ts'
import type { Ledger } from './ledger.ts'
import { migrations } from './migrations.ts'
import { identityOf, lockMsDefault, openDatabase, performed } from './open-database.ts'

/** Interval of looking for changes that a stamp did not announce, in milliseconds. */
const lookMs = 1_000

/** Options of {@link openLedger}. */
export interface LedgerOptions {
  /** Path of the database. Its folder need not exist. */
  readonly path: string
  /** A problem with the file while it is in use; `undefined`: it is over. */
  readonly onTrouble?: (problem: string | undefined) => void
  /** Limit of waiting for locks, in milliseconds. Default 5,000. */
  readonly lockMs?: number
}

/** The open file. Another one at the same path gets another number. */
interface OpenFile {
  readonly number: number
  /** Of the file at the path when it was opened. */
  readonly identity: string
  readonly database: Database
  readonly stamp: ChangeStamp
}

/**
 * Opens the ledger in SQLite. Other processes of this machine may use the same file at the same time. A file that is
 * replaced while it is open (a restored copy) is used within a second.
 *
 * @throws {LedgerUnavailable} @throws {LedgerTooNew}
 */
export async function openLedger({
  path,
  onTrouble = () => undefined,
  lockMs = lockMsDefault,
}: LedgerOptions): Promise<Ledger> {
  let file = await open(1)
  /** Closing a connection to a replaced file would remove the write-ahead log of the new one. */
  const replaced: OpenFile[] = []
  let found = 0
  let trouble: string | undefined
  let isLooking = false
  let isClosed = false
  let dataVersion = readDataVersion()
  const timer = setInterval(() => void look(), lookMs)
  timer.unref()

  async function open(number: number): Promise<OpenFile> {
    const database = await openDatabase({ path, migrations, lockMs })
    return await performed(path, lockMs, () => ({
      number,
      database,
      identity: identityOf(path),
      stamp: openStamp(`${path}-stamp`),
    }))
  }

  /** Counts commits of other connections, also of a process that was killed between commit and stamp. */
  function readDataVersion(): unknown {
    return file.database.query<unknown, []>('PRAGMA data_version').values()[0]?.[0]
  }

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    try {
      if ((await performed(path, 0, () => identityOf(path))) !== file.identity) await reopen()
      const now = readDataVersion()
      if (now !== dataVersion) found += 1
      dataVersion = now
      report(undefined)
    } catch (error) {
      report(error instanceof Error ? error.message : String(error))
    } finally {
      isLooking = false
    }
  }

  async function reopen(): Promise<void> {
    const next = await open(file.number + 1)
    replaced.push(file)
    file = next
    found += 1
  }

  function report(problem: string | undefined): void {
    if (problem !== trouble && !isClosed) onTrouble(problem)
    trouble = problem
  }

  const shared: LedgerDatabase = {
    perform: (work) => performed(path, lockMs, () => work(file.database, file.number)),
    // Found changes count beyond the 32 bits of the stamp.
    stamp: () => file.stamp.read() + found * 2 ** 32,
    publish: (version) => file.stamp.write(version),
  }
  return {
    keys: keyTable(shared, { via: 'command line' }),
    keysVia: (via, onEntry) => keyTable(shared, { via, onEntry }),
    audit: auditTable(shared.perform),
    async close() {
      isClosed = true
      clearInterval(timer)
      file.database.close()
    },
  }
}
