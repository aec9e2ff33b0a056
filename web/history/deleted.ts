import { createStore } from '../store.ts'
import type { Conversation, HistoryStore } from './conversation.ts'

/** What was deleted a moment ago, and from where: it can still be put back. */
export interface Deleted {
  readonly history: HistoryStore
  readonly conversations: readonly Conversation[]
}

/** What can be put back now; it outlives the list, which a phone hides. */
export const deleted = createStore<Deleted | undefined>(undefined)

/** Deletes a conversation, and remembers it until {@link forgetDeleted}. One that cannot be read is deleted for good. */
export async function deleteForNow(history: HistoryStore, id: string): Promise<void> {
  const conversation = await history.get(id)
  await history.remove(id)
  const before = deleted.get()
  if (conversation === undefined) return
  deleted.set({ history, conversations: [...(before?.history === history ? before.conversations : []), conversation] })
}

/** Puts back what was deleted last, all that is remembered. */
export async function putBack(): Promise<readonly Conversation[]> {
  const { history, conversations } = deleted.get() ?? { conversations: [] }
  deleted.set(undefined)
  for (const conversation of conversations) await history?.restore(conversation)
  return conversations
}

/** What was deleted is gone. */
export function forgetDeleted(): void {
  deleted.set(undefined)
}
