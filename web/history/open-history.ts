import { changes } from './changes.ts'
import type { HistoryFault, HistoryStore } from './conversation.ts'
import { connectionTo } from './database.ts'
import type { Connection } from './database.ts'
import { databaseShelf } from './database-shelf.ts'
import { historyOver } from './history-over.ts'
import { memoryShelf } from './memory-shelf.ts'
import { shelfWithSpare } from './spare-shelf.ts'

/** How long the page waits for the browser to open a database; then it goes on in memory, until it opens after all. */
const patienceMs = 2_000

/** What {@link openHistory} is made of. For tests. */
export interface OpenOptions {
  readonly connection?: Connection
  /** Resolves when waiting has been long enough. */
  readonly patience?: Promise<void>
}

/**
 * The conversations of one user, in a database of the browser that is theirs alone, and the news of other tabs. Never rejects: where the browser keeps nothing,
 * or not now, they last as long as the page, and `fault` says why.
 * @param userId `anonymous` when nobody signs in
 */
export async function openHistory(userId: string, { connection = connectionTo(`svc-${userId}`), patience = waited(patienceMs) }: OpenOptions = {}): Promise<HistoryStore> {
  const told = changes(`svc-history-${userId}`)
  let fault: HistoryFault | undefined
  const shelf = shelfWithSpare({
    opening: connection.use(async () => databaseShelf(connection)),
    patience,
    spare: memoryShelf(),
    onFault(next) {
      fault = next
      told.tellHere('')
    },
  })
  return historyOver(shelf, told, () => fault)
}

function waited(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
