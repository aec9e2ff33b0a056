import type { Database } from 'bun:sqlite'
import { errorCode } from '../base/error-code.ts'
import { openStamp, type ChangeStamp } from './change-stamp.ts'
import type { LedgerDatabase } from './file-keys.ts'
import { identityOf, lockMsDefault, openDatabase, performed } from './open-database.ts'

/** Interval of looking for changes that a stamp did not announce, in milliseconds. */
const lookMs = 1_000

export interface SharedDatabaseOptions {
  /** Path of the database. Its folder need not exist. */
  readonly path: string
  readonly migrations: readonly string[]
  /** The file may be deleted while it is in use: a new one is made. */
  readonly isDispensable?: boolean
  /** A problem with the file while it is in use; `undefined`: it is over. */
  readonly onTrouble?: (problem: string | undefined) => void
  /** Limit of waiting for locks, in milliseconds. Default 5,000. */
  readonly lockMs?: number
}

/** A database in SQLite that several processes of this machine use. */
export interface SharedDatabase extends LedgerDatabase {
  close(): void
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
 * Opens a database with a stamp of its changes beside it. A file that is replaced while it is open is used within a
 * second.
 *
 * @throws {LedgerUnavailable} @throws {LedgerTooNew}
 */
export async function openSharedDatabase({
  path,
  migrations,
  isDispensable = false,
  onTrouble = () => undefined,
  lockMs = lockMsDefault,
}: SharedDatabaseOptions): Promise<SharedDatabase> {
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
    const database = await openDatabase({ path, migrations, lockMs, isDispensable })
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
      if ((await identity()) !== file.identity) await reopen()
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

  /** `undefined`: the file is gone, and may be made anew. */
  async function identity(): Promise<string | undefined> {
    try {
      return await performed(path, 0, () => identityOf(path))
    } catch (error) {
      if (isDispensable && error instanceof Error && errorCode(error.cause) === 'ENOENT') return undefined
      throw error
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

  return {
    perform: (work) => performed(path, lockMs, () => work(file.database, file.number)),
    // Found changes count beyond the 32 bits of the stamp.
    stamp: () => file.stamp.read() + found * 2 ** 32,
    publish: (version) => file.stamp.write(version),
    close() {
      isClosed = true
      clearInterval(timer)
      file.database.close()
    },
  }
}
