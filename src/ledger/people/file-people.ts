import { existsSync } from 'node:fs'
import { recorded } from '../audit-works.ts'
import { eraseFreed } from '../erase-freed.ts'
import { changeInFile, type LedgerDatabase } from '../file-keys.ts'
import type { PersonDatabase } from '../ledger.ts'
import { rowMigrations } from '../migrations.ts'
import { lockMsDefault, openDatabase, performed } from '../open-database.ts'
import { fileSql } from '../sql-kind.ts'
import { atOnce, rowsOf } from '../work.ts'

/**
 * The people of svc.db and requests.db.
 *
 * @param rowsPath of requests.db, which may be absent
 * @throws {LedgerUnavailable} requests.db cannot be used, and may have content
 */
export async function filePeople(ledger: LedgerDatabase, rowsPath: string): Promise<PersonDatabase> {
  const lockMs = lockMsDefault
  const rows = existsSync(rowsPath)
    ? await openDatabase({ path: rowsPath, migrations: rowMigrations, lockMs, isDispensable: true })
    : undefined

  return {
    read: (statement) => ledger.perform((database) => atOnce(database, rowsOf(statement))),
    async inRequests(statement) {
      return rows === undefined ? [] : await performed(rowsPath, lockMs, () => atOnce(rows, rowsOf(statement)))
    },
    change: (work) => changeInFile(ledger, (database, version) => atOnce(database, recorded(work(version), fileSql))),
    async erase() {
      await eraseFreed(ledger.perform)
      if (rows !== undefined) await eraseFreed((work) => performed(rowsPath, lockMs, () => work(rows)))
    },
    async close() {
      rows?.close()
    },
  }
}
