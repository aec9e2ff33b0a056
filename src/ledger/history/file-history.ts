import { eraseFreed } from '../erase-freed.ts'
import { openSharedDatabase } from '../shared-database.ts'
import { atOnce } from '../work.ts'
import type { HistoryDatabase } from './works.ts'

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

/** The versions of the schema of history.db. A released step never changes. */
const historyMigrations: readonly string[] = [
  `CREATE TABLE history_head (change INTEGER NOT NULL, database TEXT NOT NULL) STRICT;
   INSERT INTO history_head (change, database) VALUES (0, lower(hex(randomblob(16))));
   CREATE TABLE history_person (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     person TEXT NOT NULL UNIQUE,
     subject TEXT NOT NULL,
     name TEXT NOT NULL,
     key_id TEXT NOT NULL,
     sealed_key BLOB NOT NULL,
     pruned INTEGER NOT NULL,
     conversations INTEGER NOT NULL,
     removed INTEGER NOT NULL,
     bytes INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE history_conversation (
     person INTEGER NOT NULL,
     id TEXT NOT NULL,
     change INTEGER NOT NULL,
     size INTEGER NOT NULL,
     content BLOB,
     PRIMARY KEY (person, id)
   ) STRICT;
   CREATE UNIQUE INDEX history_change ON history_conversation (person, change);`,
  `ALTER TABLE history_conversation ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
   UPDATE history_conversation SET written = unixepoch() * 1000;
   CREATE INDEX history_written ON history_conversation (written) WHERE content IS NOT NULL;`,
]
