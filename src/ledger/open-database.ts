import { Database } from 'bun:sqlite'
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../base/error-code.ts'
import { copyDatabase } from './copy-database.ts'
import { LedgerTooNew, LedgerUnavailable } from './ledger.ts'

/** `svcl` in ASCII: the file is a ledger of svc, not another program's database. */
const applicationId = 0x7376636c
const retryMs = 20

/** Waits for a lock of another process at most this long, in milliseconds. */
export const lockMsDefault = 5_000

export interface DatabaseOptions {
  readonly path: string
  readonly migrations: readonly string[]
  readonly lockMs: number
  /** A database that may lose its last second, and whose file shrinks when rows are deleted. */
  readonly isDispensable?: boolean
}

/**
 * Opens the database, which is made if needed, with its folder, and brings its schema up to date. Only its owner may
 * read it. A copy is made before a migration, unless the database is dispensable.
 *
 * @throws {LedgerUnavailable} @throws {LedgerTooNew}
 */
export async function openDatabase({
  path,
  migrations,
  lockMs,
  isDispensable = false,
}: DatabaseOptions): Promise<Database> {
  const database = await performed(path, lockMs, () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    // SQLite gives its other files the permissions of this one.
    closeSync(openSync(path, 'a', 0o600))
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
    return new Database(path, { readwrite: true, strict: true })
  })
  try {
    // Waiting in SQLite would stop the event loop: `performed` waits instead.
    await performed(path, lockMs, () => {
      database.run('PRAGMA busy_timeout = 0')
      checkOwner(database, path)
      if (isDispensable) database.run('PRAGMA auto_vacuum = INCREMENTAL')
      database.run('PRAGMA journal_mode = WAL')
      database.run(`PRAGMA synchronous = ${isDispensable ? 'NORMAL' : 'FULL'}`)
    })
    await performed(path, lockMs, () => migrate(database, { path, migrations, isDispensable }))
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function checkOwner(database: Database, path: string): void {
  const isEmpty = onlyNumber(database, 'SELECT count(*) FROM sqlite_schema') === 0
  if (isEmpty || onlyNumber(database, 'PRAGMA application_id') === applicationId) return
  throw new LedgerUnavailable(`${path} is a database of another program: move it away`)
}

/** The lock is taken before the version is read, so that of several processes one migrates. */
function migrate(
  database: Database,
  { path, migrations, isDispensable }: Pick<Required<DatabaseOptions>, 'path' | 'migrations' | 'isDispensable'>,
): void {
  const version = (): number => onlyNumber(database, 'PRAGMA user_version')
  if (version() === migrations.length) return
  database
    .transaction(() => {
      const before = version()
      if (before > migrations.length) {
        const wayOut = isDispensable ? 'move it away' : `put back the copy that it made (${copyPath(path, before)})`
        throw new LedgerTooNew(
          `${path} has schema ${before}, this version of svc knows ${migrations.length}: ` +
            `use the newer svc, or ${wayOut}`,
        )
      }
      // A copy of rows that may be deleted at any time would only take space.
      if (before > 0 && !isDispensable) {
        const kept = copyPath(path, migrations.length)
        rmSync(kept, { force: true })
        copyDatabase(path, kept)
      }
      for (const step of migrations.slice(before)) database.run(step)
      database.run(`PRAGMA application_id = ${applicationId}`)
      database.run(`PRAGMA user_version = ${migrations.length}`)
    })
    .immediate()
}

function copyPath(path: string, version: number): string {
  return `${path}.before-${version}`
}

/**
 * Identifies the file at a path, which another one may replace. Numbers of files are used again; the time of making is
 * not.
 */
export function identityOf(path: string): string {
  const { ino, birthtimeMs } = statSync(path)
  return `${ino} ${birthtimeMs}`
}

/** The only number that a query returns. */
export function onlyNumber(database: Database, query: string): number {
  const [value] = database.query<unknown, []>(query).values()[0] ?? []
  return Number(value)
}

/**
 * Performs work on the database, again while another process has a lock on it.
 *
 * @throws {LedgerUnavailable} with the cause and the way out
 */
export async function performed<Value>(path: string, lockMs: number, work: () => Value): Promise<Value> {
  const end = performance.now() + lockMs
  for (;;) {
    try {
      return work()
    } catch (error) {
      const code = errorCode(error) ?? ''
      if (!code.startsWith('SQLITE_BUSY') || performance.now() > end) throw asUnavailable(error, code, path)
      await Bun.sleep(retryMs)
    }
  }
}

const causes: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_BUSY/, 'is locked by another program: end it, or try again'],
  [/^SQLITE_READONLY|^EROFS/, 'is read-only: make the file and its folder writable for the user that runs svc'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'is damaged: put back a copy, or move it away to start anew'],
  [/^SQLITE_FULL|^ENOSPC|^EDQUOT/, 'cannot grow, the disk is full: free space'],
  [
    /^SQLITE_CANTOPEN|^EACCES|^EPERM|^ENOTDIR|^EEXIST|^EISDIR|^ENOENT/,
    'cannot be opened: check its folder and permissions',
  ],
]

/** Errors without a code are ours, or faults of the program. */
function asUnavailable(error: unknown, code: string, path: string): unknown {
  if (!/^(SQLITE_|E[A-Z])/.test(code) || /^SQLITE_(ERROR|CONSTRAINT)/.test(code)) return error
  const [, cause] = causes.find(([pattern]) => pattern.test(code)) ?? []
  return new LedgerUnavailable(`the database ${path} ${cause ?? 'cannot be used'} (${code})`, { cause: error })
}
