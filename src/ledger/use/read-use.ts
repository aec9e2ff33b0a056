import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { rowsPathBeside } from '../content/content-file.ts'
import { identityOf, performed } from '../open-database.ts'
import { fileSql } from '../sql-kind.ts'
import { rowsOnce, statement, type WorkRow } from '../work.ts'
import { readerOf } from './read-tables.ts'
import type { SearchLimits } from './search-requests.ts'
import type { TableReader } from './stored-requests.ts'
import type { UseReader } from './use-reader.ts'

const lockMs = 1_000

/** Opens svc.db, and the requests.db beside it if there is one, for reading alone. Its schema must be current. */
export async function openUseReader(path: string, limits: SearchLimits = {}): Promise<UseReader> {
  const database = await performed(path, lockMs, () => new Database(path, { readonly: true, strict: true }))
  database.run('PRAGMA busy_timeout = 1000')
  const identity = identityOf(path)
  const tables = readTables(database, path, lockMs)
  const rows = readRowsFile(rowsPathBeside(path), lockMs)
  const reader = readerOf({ names: tables, rows: rows.read, kind: fileSql }, limits)
  return {
    ...reader,
    async content(question) {
      // A file of an earlier version has no content.
      const found = await rows.read(statement("SELECT 1 FROM sqlite_schema WHERE name = 'content'"))
      return found.length === 0 ? undefined : await reader.content(question)
    },
    isCurrent: () => identityOf(path) === identity,
    close() {
      rows.close()
      database.close()
    },
  }
}

/** Reads the tables of a database that is open. */
function readTables(database: Database, path: string, lockMs: number): TableReader {
  return (found) => performed(path, lockMs, () => rowsOnce(database, found))
}

/** The rows of requests.db, which may come, be replaced and be deleted at any time. Without it there are none. */
interface RowsReader {
  readonly read: TableReader
  close(): void
}

/** Opens requests.db for reading alone, at its first use and again when the file is another one. */
function readRowsFile(path: string, lockMs: number): RowsReader {
  let open: { readonly database: Database; readonly read: TableReader; readonly identity: string } | undefined

  /** Closing a connection to a replaced file would remove the write-ahead log of the new one. */
  const replaced: unknown[] = []

  function leave(): void {
    if (open !== undefined) replaced.push(open)
    open = undefined
  }

  async function current(): Promise<TableReader | undefined> {
    if (!existsSync(path)) {
      leave()
      return undefined
    }
    const identity = identityOf(path)
    if (open?.identity !== identity) {
      leave()
      const database = await performed(path, lockMs, () => new Database(path, { readonly: true, strict: true }))
      database.run('PRAGMA busy_timeout = 1000')
      open = { database, read: readTables(database, path, lockMs), identity }
    }
    return open.read
  }

  async function read(query: Parameters<TableReader>[0]): Promise<readonly WorkRow[]> {
    return (await (await current())?.(query)) ?? []
  }

  return { read, close: () => open?.database.close() }
}
