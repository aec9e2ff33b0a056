import { openDB } from 'idb'
import type { DBSchema, IDBPDatabase } from 'idb'
import { HistoryFull, HistoryOutdated } from './history-error.ts'

/** What lies in a user's database. Values are `unknown`: whoever reads them parses them. */
export interface HistorySchema extends DBSchema {
  /** By conversation: what a list shows of it. */
  heads: { key: string; value: { readonly id: string } }
  /** By conversation: all of it but what is in the pictures. */
  bodies: { key: string; value: { readonly id: string } }
  /** By owner and the picture's id: its data URL. */
  pictures: { key: [string, string]; value: unknown }
  /** By conversation: what is searched of its messages (`wordFolder` of search.ts). */
  words: { key: string; value: { readonly id: string; readonly words: unknown } }
  /** By conversation. */
  drafts: { key: string; value: unknown }
}

/** A user's database, open. */
export type HistoryDatabase = IDBPDatabase<HistorySchema>

/** Brings a database from one version to the next. */
export type Upgrade = (database: HistoryDatabase) => void

/** From nothing to version 1, from there to version 2, and so on. What is here stays as it is; a change is one more. */
export const upgrades: readonly Upgrade[] = [
  (database) => {
    database.createObjectStore('heads', { keyPath: 'id' })
    database.createObjectStore('bodies', { keyPath: 'id' })
    database.createObjectStore('words', { keyPath: 'id' })
    database.createObjectStore('pictures')
    database.createObjectStore('drafts')
  },
]

/** The way to a database, opened again when the browser closed it. */
export interface Connection {
  /**
   * Runs this with the database.
   *
   * @throws {HistoryOutdated} when another tab has a newer version of it, {@link HistoryFull} when the browser gives no
   *   more room
   */
  use<Result>(run: (database: HistoryDatabase) => Promise<Result>): Promise<Result>
  close(): void
}

/** A connection to the database of this name. Nothing is opened before it is used. */
export function connectionTo(name: string, steps: readonly Upgrade[] = upgrades): Connection {
  let opened: Promise<HistoryDatabase> | undefined
  let isOutdated = false

  async function open(): Promise<HistoryDatabase> {
    const database: HistoryDatabase = await openDB<HistorySchema>(name, steps.length, {
      upgrade(being, from) {
        for (const step of steps.slice(from)) step(being)
      },
      // Another tab wants to bring it to a newer version, which must not wait for us, or to delete it.
      blocking(_current, next) {
        isOutdated = next !== null
        opened = undefined
        database.close()
      },
      terminated() {
        opened = undefined
      },
    })
    return database
  }

  function database(): Promise<HistoryDatabase> {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  async function use<Result>(run: (database: HistoryDatabase) => Promise<Result>, isAgain = false): Promise<Result> {
    if (isOutdated) throw new HistoryOutdated()
    try {
      return await run(await database())
    } catch (error) {
      if (isAgain || !(error instanceof DOMException) || error.name !== 'InvalidStateError') throw explained(error)
      // The browser has closed it, and may not have told.
      opened = undefined
      return await use(run, true)
    }
  }

  return {
    use: (run) => use(run),
    close() {
      void opened?.then(
        (database) => database.close(),
        () => undefined,
      )
      opened = undefined
    },
  }
}

function explained(error: unknown): unknown {
  if (!(error instanceof DOMException)) return error
  if (error.name === 'QuotaExceededError') return new HistoryFull({ cause: error })
  return error.name === 'VersionError' ? new HistoryOutdated({ cause: error }) : error
}
