import { dirname, join } from 'node:path'
import { appendEntry, auditTable } from './audit-works.ts'
import { fileKeys } from './file-keys.ts'
import { lastingStores } from './lasting-store.ts'
import type { Ledger } from './ledger.ts'
import { migrations } from './migrations.ts'
import { openSharedDatabase, type SharedDatabaseOptions } from './shared-database.ts'
import { fileSql } from './sql-kind.ts'
import { atOnce } from './work.ts'

export type LedgerOptions = Pick<SharedDatabaseOptions, 'path' | 'onTrouble' | 'lockMs'>

/**
 * Opens the ledger in SQLite. Other processes of this machine may use the same file at the same time. A file that is
 * replaced while it is open (a restored copy) is used within a second.
 *
 * @throws {LedgerUnavailable} @throws {LedgerTooNew}
 */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const shared = await openSharedDatabase({ ...options, migrations })
  return {
    keys: fileKeys(shared, { via: 'command line' }),
    keysVia: (via, onEntry) => fileKeys(shared, { via, onEntry }),
    audit: auditTable((work) => shared.perform((database) => atOnce(database, work())), fileSql),
    record: (change) =>
      shared.perform((database) =>
        database.transaction(() => atOnce(database, appendEntry(change, fileSql))).immediate(),
      ),
    lasting: lastingStores({
      read: (work) => shared.perform((database) => atOnce(database, work())),
      write: (work) => shared.perform((database) => database.transaction(() => atOnce(database, work())).immediate()),
    }),
    async people() {
      const { filePeople } = await import('./people/file-people.ts')
      return await filePeople(shared, join(dirname(options.path), 'requests.db'))
    },
    async close() {
      shared.close()
    },
  }
}
