import { openChats } from '../chat/chats.ts'
import type { HistoryStore } from '../history/conversation.ts'
import type { Services } from '../services.ts'
import { openComparison, type Comparison } from './comparison.ts'

/** An open comparison, with the history that has its columns and its draft. */
export interface OpenComparison {
  readonly comparison: Comparison
  readonly history: HistoryStore
}

/** One per user, so answers continue when the view is closed. */
const known = new WeakMap<HistoryStore, Promise<OpenComparison>>()

/**
 * Returns the user's comparison: always the same object. It is stored apart from the conversations, until the user
 * begins a new one.
 *
 * @param models of its columns if none is stored
 */
export function comparisonOf(
  { client, history, openHistory }: Pick<Services, 'client' | 'history' | 'openHistory'>,
  models: readonly (string | undefined)[],
): Promise<OpenComparison> {
  async function open(): Promise<OpenComparison> {
    const own = await openHistory('compare')
    const comparison = await openComparison({ history: own, chats: openChats({ client, history: own }), models })
    return { comparison, history: own }
  }

  const found = known.get(history) ?? open()
  known.set(history, found)
  return found
}
