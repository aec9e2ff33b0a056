import { changes } from './changes.ts'
import type { HistoryFault, HistoryStore } from './conversation.ts'
import { databaseBackend } from './database-backend.ts'
import { connectionTo, type Connection } from './database.ts'
import { backendWithFallback } from './fallback-backend.ts'
import { packHeads } from './head-packs.ts'
import { historyStore } from './history-store.ts'
import { memoryBackend } from './memory-backend.ts'

export { openDB } from 'idb'
export { historyStore }

/** Time to wait for the database, two seconds in total. Then the page continues in memory until it opens. */
const patience = { steps: 20, stepMs: 100 }

/** Options of {@link openHistory}. For tests. */
export interface OpenOptions {
  readonly connection?: Connection
  /** Resolves when the wait is over. */
  readonly patience?: Promise<void>
  /** Whether to pack heads and to index words when the page has been open for a while. */
  readonly tidies?: boolean
}

/**
 * Opens the history of a user, in a database of its own, with changes of other tabs. Never rejects: without storage,
 * the history ends with the page, and `fault` says why.
 *
 * @param userId `anonymous` without sign-in
 */
export async function openHistory(userId: string, options?: OpenOptions): Promise<HistoryStore> {
  const { backend, changed, faultNow } = localHistory(userId, options)
  return historyStore(backend, changed, faultNow)
}

/** The parts of {@link openHistory}. */
export function localHistory(
  userId: string,
  {
    connection = connectionTo(`svc-${userId}`),
    patience: wait = waited(),
    tidies = typeof window !== 'undefined',
  }: OpenOptions = {},
) {
  const changed = changes(`svc-history-${userId}`)
  let fault: HistoryFault | undefined
  const backend = backendWithFallback({
    opening: connection.use(async () => databaseBackend(connection)),
    patience: wait,
    fallback: memoryBackend(),
    onFault(next) {
      fault = next
      changed.publishLocally('')
    },
  })
  if (tidies) void tidyLater(connection)
  return { backend, changed, faultNow: () => fault }
}

/** Waits in steps: a busy page that cannot yet process the opened database gets more time. */
async function waited(): Promise<void> {
  for (let step = 0; step < patience.steps; step++) await new Promise((resolve) => setTimeout(resolve, patience.stepMs))
}

const tidyAfterMs = 5_000

/** Packs heads and indexes words while the page is open. Without, the next start and a search read more. */
async function tidyLater(connection: Connection): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, tidyAfterMs))
  try {
    const { indexWords } = await import('./index-words.ts')
    await connection.use(packHeads)
    await connection.use((database) => indexWords(database))
  } catch {
    // No storage, or no network.
  }
}
