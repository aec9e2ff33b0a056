import { changes } from './changes.ts'
import type { HistoryStore } from './conversation.ts'
import { historyStore } from './history-store.ts'
import { memoryBackend } from './memory-backend.ts'

/** A history in memory, also for tests. */
export function memoryHistory(): HistoryStore {
  return historyStore(memoryBackend(), changes(), () => undefined)
}
