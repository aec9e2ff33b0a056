import type { Database } from 'bun:sqlite'
import { dirname, join } from 'node:path'
import { migrations, rowMigrations } from '../migrations.ts'
import { identityOf, lockMsDefault, openDatabase, performed } from '../open-database.ts'
import { fileSql } from '../sql-kind.ts'
import { atOnce } from '../work.ts'
import type { ContentStore } from './content-store.ts'
import { addContent, contentSize, deleteContent, peopleOf } from './content-works.ts'

const lockMs = lockMsDefault

/** Path of requests.db beside svc.db. */
export function rowsPathBeside(path: string): string {
  return join(dirname(path), 'requests.db')
}

/**
 * Content in requests.db. Opens the files at their first use, and again when one is replaced.
 *
 * @param path of svc.db, which has the people
 */
export function contentFile(path: string): ContentStore {
  const rowsPath = rowsPathBeside(path)
  const people = openFile({ path, migrations, lockMs, isDispensable: false })
  const rows = openFile({ path: rowsPath, migrations: rowMigrations, lockMs, isDispensable: true })
  return {
    async write(added) {
      const ledger = await people.current()
      const numbers = await performed(path, lockMs, () => atOnce(ledger, peopleOf(added, fileSql)))
      const database = await rows.current()
      const add = database.transaction(() => atOnce(database, addContent(added, numbers, fileSql)))
      await performed(rowsPath, lockMs, () => add.immediate())
    },
    close() {
      people.close()
      rows.close()
    },
  }
}

/** A database that is opened when it is needed. Connections to replaced files stay open, as in `sumsFile`. */
function openFile(options: Parameters<typeof openDatabase>[0]) {
  let file: { readonly database: Database; readonly identity: string } | undefined
  const replaced: unknown[] = []

  function isSame(): boolean {
    try {
      return identityOf(options.path) === file?.identity
    } catch {
      return false // The file is gone.
    }
  }

  return {
    async current(): Promise<Database> {
      if (file !== undefined && isSame()) return file.database
      replaced.push(file)
      const database = await openDatabase(options)
      file = { database, identity: identityOf(options.path) }
      return database
    },
    close(): void {
      file?.database.close()
      file = undefined
    },
  }
}

/** The bytes of all content. */
export function contentBytes(database: Database): number {
  return atOnce(database, contentSize())
}

/** Deletes some content, within a transaction: see {@link deleteContent}. */
export function deleteSomeContent(database: Database, now: number, bytesMax?: number): boolean {
  return atOnce(database, deleteContent(now, fileSql, bytesMax))
}
