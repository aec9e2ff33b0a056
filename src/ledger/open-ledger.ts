import { dirname, join } from 'node:path'
import { appendEntry, auditTable } from './audit-table.ts'
import { keyTable } from './key-table.ts'
import type { Ledger } from './ledger.ts'
import { migrations } from './migrations.ts'
import { openSharedDatabase, type SharedDatabaseOptions } from './shared-database.ts'

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
    keys: keyTable(shared, { via: 'command line' }),
    keysVia: (via, onEntry) => keyTable(shared, { via, onEntry }),
    audit: auditTable(shared.perform),
    record: (change) =>
      shared.perform((database) => database.transaction(() => appendEntry(database, change)).immediate()),
    async people() {
      const { filePeople } = await import('./people/file-people.ts')
      return await filePeople(shared, join(dirname(options.path), 'requests.db'))
    },
    async close() {
      shared.close()
    },
  }
}
