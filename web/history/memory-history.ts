import { changes } from './changes.ts'
import type { HistoryStore } from './conversation.ts'
import { historyOver } from './history-over.ts'
import { memoryShelf } from './memory-shelf.ts'

/** A history that lasts as long as the page. For tests, too. */
export function memoryHistory(): HistoryStore {
  return historyOver(memoryShelf(), changes(), () => undefined)
}
