import type { Amendment, Conversation, ConversationHead, Draft, SearchHit } from './conversation.ts'

/**
 * A place where conversations lie: what {@link HistoryStore} (conversation.ts) says of its methods of these names holds
 * here, but nobody is told of changes.
 */
export interface Shelf {
  heads(): Promise<readonly ConversationHead[]>
  head(id: string): Promise<ConversationHead | undefined>
  /** As it was put. */
  get(id: string): Promise<Conversation | undefined>
  /** @param mustBeThere rejects with {@link ConversationRemoved} unless there is one of its id */
  put(conversation: Conversation, mustBeThere: boolean): Promise<void>
  amend(id: string, changes: Amendment): Promise<void>
  remove(id: string): Promise<void>
  clear(): Promise<void>
  /** @param words as `wordsOf` gives them */
  search(words: readonly string[], limit: number): Promise<readonly SearchHit[]>
  all(): Promise<readonly Conversation[]>
  draft(id: string): Promise<Draft | undefined>
  putDraft(id: string, draft: Draft | undefined): Promise<void>
  close(): void
}
