import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { identityOf, performed } from '../open-database.ts'
import { numberedSql, type SqlParameter } from '../sql.ts'
import type { TableReader, TableRow } from './stored-requests.ts'

/** Reads the tables of a database that is open. Statements differ by their conditions, so none is kept. */
export function readTables(database: Database, path: string, lockMs: number): TableReader {
  return (query) =>
    performed(path, lockMs, () => {
      const statement = database.prepare<Record<string, unknown>, SqlParameter[]>(numberedSql(query, '?'))
      try {
        return statement.all(...query.values)
      } finally {
        statement.finalize()
      }
    })
}

/** The rows of requests.db, which may come, be replaced and be deleted at any time. Without it there are none. */
export interface RowsReader {
  readonly read: TableReader
  close(): void
}

/** Opens requests.db for reading alone, at its first use and again when the file is another one. */
export function readRowsFile(path: string, lockMs: number): RowsReader {
  let open: { readonly database: Database; readonly read: TableReader; readonly identity: string } | undefined

  /** Closing a connection to a replaced file would remove the write-ahead log of the new one. */
  const replaced: unknown[] = []

  function leave(): void {
    replaced.push(open)
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

  async function read(query: Parameters<TableReader>[0]): Promise<readonly TableRow[]> {
    return (await (await current())?.(query)) ?? []
  }

  return { read, close: () => open?.database.close() }
}
