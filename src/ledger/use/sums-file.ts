import type { Database } from 'bun:sqlite'
import { LedgerTooNew } from '../ledger.ts'
import { migrations } from '../migrations.ts'
import { identityOf, onlyNumber, openDatabase, performed } from '../open-database.ts'
import { atOnce, type PerformWork } from '../work.ts'

/** The sums of use in svc.db. */
export interface SumsFile {
  /** Performs work in one transaction. @throws {LedgerUnavailable} @throws {LedgerTooNew} */
  readonly perform: PerformWork
  close(): void
}

export interface SumsFileOptions {
  /** Path of svc.db. */
  readonly path: string
  readonly lockMs: number
  /** Another file is open: ids of names are others. */
  readonly onReplaced: () => void
}

/** Opens the sums at their first use, and again when the file is replaced. */
export function sumsFile({ path, lockMs, onReplaced }: SumsFileOptions): SumsFile {
  let file: { readonly database: Database; readonly identity: string } | undefined
  /** Closing a connection to a replaced file would remove the write-ahead log of the new one. */
  const replaced: unknown[] = []

  async function current(): Promise<Database> {
    if (file !== undefined) {
      const { identity } = file
      if ((await performed(path, 0, () => identityOf(path))) === identity) return file.database
      replaced.push(file)
      file = undefined
      onReplaced()
    }
    const database = await openDatabase({ path, migrations, lockMs })
    file = { database, identity: identityOf(path) }
    return database
  }

  return {
    async perform(work) {
      const database = await current()
      return await performed(path, lockMs, () =>
        database
          .transaction(() => {
            checkVersion(database, path)
            return atOnce(database, work())
          })
          .immediate(),
      )
    },
    close() {
      file?.database.close()
      file = undefined
    },
  }
}

/** A newer svc may have changed the database while this one runs. @throws {LedgerTooNew} */
function checkVersion(database: Database, path: string): void {
  const version = onlyNumber(database, 'PRAGMA user_version')
  if (version > migrations.length)
    throw new LedgerTooNew(`a newer svc has changed ${path} to schema ${version}: restart this service with it`)
}
