import type { Database } from 'bun:sqlite'
import { keysWhere, keyTable, type Recording } from './key-works.ts'
import type { KeyTable } from './ledger.ts'
import { fileSql } from './sql-kind.ts'
import { atOnce } from './work.ts'

/** The database, as a table of the ledger uses it. */
export interface LedgerDatabase {
  /** Performs work on the database. @throws {LedgerUnavailable} */
  perform<Value>(work: (database: Database, file: number) => Value): Promise<Value>
  /** @returns a number that differs after each change */
  stamp(): number
  /** Publishes a change after its commit. */
  publish(version: number): void
}

/** The keys of a database in SQLite. */
export function fileKeys(ledger: LedgerDatabase, recording: Recording): KeyTable {
  const { perform, stamp } = ledger
  return keyTable(
    {
      read: (work) => perform((database) => atOnce(database, work())),
      change: (work) => changeInFile(ledger, (database, version) => atOnce(database, work(version))),
      kind: fileSql,
      own: {
        stamp,
        changes: (mark) =>
          perform((database, file) => {
            const isWhole = mark?.file !== file
            const after = isWhole ? 0 : mark.version
            return database.transaction(() => ({
              mark: { file, version: lastVersion(database) },
              isWhole,
              keys: atOnce(database, keysWhere('version > $1 ORDER BY id', [after])),
            }))()
          }),
      },
    },
    recording,
  )
}

/**
 * Performs a change in one transaction, then publishes it. The next change gets the number of one that has changed no
 * key, which is therefore not published: processes would take both for one.
 *
 * @param work gets the number of the change
 */
export async function changeInFile<Value>(
  { perform, publish }: LedgerDatabase,
  work: (database: Database, version: number) => Value,
): Promise<Value> {
  const { value, version, isChanged } = await perform((database) =>
    database
      .transaction(() => {
        const version = lastVersion(database) + 1
        const value = work(database, version)
        return { value, version, isChanged: lastVersion(database) === version }
      })
      .immediate(),
  )
  if (isChanged) publish(version)
  return value
}

function lastVersion(database: Database): number {
  return Number(database.query<unknown, []>('SELECT coalesce(max(version), 0) FROM key').values()[0]?.[0])
}
