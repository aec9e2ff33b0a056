import { openDB, type DBSchema, type IDBPDatabase } from 'idb'
import { HistoryFull, HistoryOutdated } from './history-error.ts'

/** Stores of a user's database. Values are `unknown`: readers parse them. */
export interface HistorySchema extends DBSchema {
  /** By conversation: its head. */
  heads: { key: string; value: { readonly id: string } }
  /** Copies of heads, many in one record (head-packs.ts). */
  headPacks: { key: number; value: unknown }
  /** Ids of conversations whose heads were written or removed since they were copied. */
  changedHeads: { key: string; value: true }
  /** By conversation: everything except image data. */
  bodies: { key: string; value: { readonly id: string } }
  /** By owner and image id: the data URL. */
  pictures: { key: [string, string]; value: unknown }
  /**
   * By conversation: the searched words of its messages (`wordFolder` of search.ts), until they are in a segment. They
   * replace those in a segment. `isGone`: the conversation was removed, and a segment may have its words.
   */
  words: { key: string; value: { readonly id: string; readonly words: unknown; readonly isGone?: boolean } }
  /** The index of words, in parts (word-index.ts). Their keys are never used again. */
  segments: { key: number; value: unknown }
  /** By conversation. */
  drafts: { key: string; value: unknown }
}

/** An open database of a user. */
export type HistoryDatabase = IDBPDatabase<HistorySchema>

/** Upgrades a database to the next version. */
export type Upgrade = (database: HistoryDatabase) => void

/** Upgrades from version 0 to 1, 1 to 2, and so on. Entries never change; a new version adds one. */
export const upgrades: readonly Upgrade[] = [
  (database) => {
    database.createObjectStore('heads', { keyPath: 'id' })
    database.createObjectStore('bodies', { keyPath: 'id' })
    database.createObjectStore('words', { keyPath: 'id' })
    database.createObjectStore('pictures')
    database.createObjectStore('drafts')
  },
  // Bodies may be trees, which older pages must not read or write. This one reads both forms.
  () => undefined,
  // Words move into segments, which older pages do not search.
  (database) => void database.createObjectStore('segments', { autoIncrement: true }),
  // Older pages would write heads without a mark for their copies.
  (database) => {
    database.createObjectStore('headPacks', { autoIncrement: true })
    database.createObjectStore('changedHeads')
  },
]

/** A connection to a database. It reopens when the browser has closed it. */
export interface Connection {
  /**
   * Runs a function with the database.
   *
   * @throws {HistoryOutdated} if another tab has upgraded it to a newer version, {@link HistoryFull} if the browser's
   *   storage is full
   */
  use<Result>(run: (database: HistoryDatabase) => Promise<Result>): Promise<Result>
  close(): void
}

/** Creates a connection. The database opens on first use. */
export function connectionTo(name: string, steps: readonly Upgrade[] = upgrades): Connection {
  let opened: Promise<HistoryDatabase> | undefined
  let isOutdated = false

  async function open(): Promise<HistoryDatabase> {
    const database: HistoryDatabase = await openDB<HistorySchema>(name, steps.length, {
      upgrade(being, from) {
        for (const step of steps.slice(from)) step(being)
      },
      // Another tab wants to upgrade or delete the database, and must not wait for this one.
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
      // The browser has closed it, perhaps without an event.
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
