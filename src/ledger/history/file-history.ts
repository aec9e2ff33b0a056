import type { Database } from 'bun:sqlite'
import { eraseFreed } from '../erase-freed.ts'
import { openSharedDatabase } from '../shared-database.ts'
import { historyMigrations } from './history-migrations.ts'
import type { HistoryDatabase, HistoryRow, Work } from './works.ts'

/**
 * The conversations of one machine, in SQLite. Other processes of this machine may use the file at the same time.
 *
 * @param path of history.db
 * @throws {LedgerUnavailable} @throws {LedgerTooNew}
 */
export async function openFileHistory(path: string): Promise<HistoryDatabase> {
  const { perform, close } = await openSharedDatabase({ path, migrations: historyMigrations })
  return {
    name: path,
    write: (work) => perform((database) => database.transaction(() => atOnce(database, work())).immediate()),
    read: (work) => perform((database) => database.transaction(() => atOnce(database, work())).deferred()),
    erase: () => eraseFreed(perform),
    async close() {
      close()
    },
  }
}

function atOnce<Value>(database: Database, work: Work<Value>): Value {
  let step = work.next()
  while (step.done !== true) {
    const { text, values } = step.value
    step = work.next(database.query<HistoryRow, (string | number | Uint8Array | null)[]>(text).all(...values))
  }
  return step.value
}
