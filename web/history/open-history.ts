import { changes } from './changes.ts'
import type { HistoryFault, HistoryStore } from './conversation.ts'
import { databaseShelf } from './database-shelf.ts'
import { connectionTo } from './database.ts'
import type { Connection } from './database.ts'
import { historyOver } from './history-over.ts'
import { memoryShelf } from './memory-shelf.ts'
import { shelfWithSpare } from './spare-shelf.ts'

/**
 * How long the page waits for the browser to open a database, two seconds; then it goes on in memory, until it opens
 * after all.
 */
const patience = { steps: 20, stepMs: 100 }

/** What {@link openHistory} is made of. For tests. */
export interface OpenOptions {
  readonly connection?: Connection
  /** Resolves when waiting has been long enough. */
  readonly patience?: Promise<void>
}

/**
 * The conversations of one user, in a database of the browser that is theirs alone, and the news of other tabs. Never
 * rejects: where the browser keeps nothing, or not now, they last as long as the page, and `fault` says why.
 *
 * @param userId `anonymous` when nobody signs in
 */
export async function openHistory(
  userId: string,
  { connection = connectionTo(`svc-${userId}`), patience: wait = waited() }: OpenOptions = {},
): Promise<HistoryStore> {
  const told = changes(`svc-history-${userId}`)
  let fault: HistoryFault | undefined
  const shelf = shelfWithSpare({
    opening: connection.use(async () => databaseShelf(connection)),
    patience: wait,
    spare: memoryShelf(),
    onFault(next) {
      fault = next
      told.tellHere('')
    },
  })
  return historyOver(shelf, told, () => fault)
}

/**
 * In steps, so that a page that is busy all the time, and does not see that the database is open, does not count as
 * waiting.
 */
async function waited(): Promise<void> {
  for (let step = 0; step < patience.steps; step++) await new Promise((resolve) => setTimeout(resolve, patience.stepMs))
}
