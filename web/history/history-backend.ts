import type { Amendment, Conversation, ConversationHead, Draft, SearchHit } from './conversation.ts'

/**
 * Storage of conversations. Methods are as in {@link HistoryStore} (conversation.ts), but changes are not published.
 */
export interface HistoryBackend {
  heads(): Promise<readonly ConversationHead[]>
  head(id: string): Promise<ConversationHead | undefined>
  /** Returns the conversation as written. */
  get(id: string): Promise<Conversation | undefined>
  /** Writes a conversation. @param mustExist rejects with {@link ConversationRemoved} if its id is not stored */
  put(conversation: Conversation, mustExist: boolean): Promise<void>
  amend(id: string, changes: Amendment): Promise<void>
  remove(id: string): Promise<void>
  clear(): Promise<void>
  /** Searches. @param words from `wordsOf` */
  search(words: readonly string[], limit: number): Promise<readonly SearchHit[]>
  all(): Promise<readonly Conversation[]>
  draft(id: string): Promise<Draft | undefined>
  putDraft(id: string, draft: Draft | undefined): Promise<void>
  /** Called after a change by another tab. @param id empty if any may have changed */
  changed?(id: string): void
  close(): void
}
