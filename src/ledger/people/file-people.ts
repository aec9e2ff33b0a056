import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { appendEntry } from '../audit-table.ts'
import { eraseFreed } from '../erase-freed.ts'
import { changeInFile, type LedgerDatabase } from '../key-table.ts'
import type { PersonDatabase, PersonRow, Statement } from '../ledger.ts'
import { lockMsDefault, performed } from '../open-database.ts'

/** The people of svc.db and requests.db. @param rowsPath of requests.db, which may be absent */
export function filePeople(ledger: LedgerDatabase, rowsPath: string): PersonDatabase {
  const rows = existsSync(rowsPath) ? new Database(rowsPath, { readonly: true }) : undefined
  return {
    read: (statement) => ledger.perform((database) => rowsOf(database, statement)),
    readRequests: async (statement) =>
      rows === undefined ? [] : await performed(rowsPath, lockMsDefault, () => rowsOf(rows, statement)),
    async change(statementsOf, entryOf) {
      await changeInFile(ledger, (database, version) => {
        appendEntry(database, entryOf(statementsOf(version).map((statement) => rowsOf(database, statement))))
      })
    },
    erase: () => eraseFreed(ledger.perform),
    async close() {
      rows?.close()
    },
  }
}

function rowsOf(database: Database, { text, values }: Statement): readonly PersonRow[] {
  return database.query<Record<string, unknown>, (string | number)[]>(text).all(...values)
}
