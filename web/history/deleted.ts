import { createStore } from '../store.ts'
import type { Conversation, HistoryStore } from './conversation.ts'

/** Recently deleted conversations that undo can restore. */
export interface Deleted {
  readonly history: HistoryStore
  readonly conversations: readonly Conversation[]
}

/** State of the undo bar. It outlives the list, which phones hide. */
export const deleted = createStore<Deleted | undefined>(undefined)

/** Deletes a conversation; undo is possible until {@link clearDeleted}, unless it is unreadable. */
export async function deleteUndoable(history: HistoryStore, id: string): Promise<void> {
  const conversation = await history.get(id)
  await history.remove(id)
  const before = deleted.get()
  if (conversation === undefined) return
  deleted.set({ history, conversations: [...(before?.history === history ? before.conversations : []), conversation] })
}

/** Restores the recently deleted conversations. */
export async function restoreDeleted(): Promise<readonly Conversation[]> {
  const { history, conversations } = deleted.get() ?? { conversations: [] }
  deleted.set(undefined)
  for (const conversation of conversations) await history?.restore(conversation)
  return conversations
}

/** Ends the possibility of undo. */
export function clearDeleted(): void {
  deleted.set(undefined)
}
