import type { Conversation, ConversationHead } from './conversation.ts'

/** Returns the head of a conversation. */
export function headOf({ id, title, isPinned, folder, created, updated, messages }: Conversation): ConversationHead {
  return {
    id,
    title,
    isPinned,
    ...(folder === undefined ? {} : { folder }),
    created,
    updated,
    messageCount: messages.length,
  }
}

/** Orders by time, the newest first. */
export function byTime(one: ConversationHead, other: ConversationHead): number {
  return other.updated - one.updated || (one.id < other.id ? -1 : 1)
}

/** Orders pinned ones first, then the newest first. */
export function inOrder(one: ConversationHead, other: ConversationHead): number {
  return Number(other.isPinned) - Number(one.isPinned) || byTime(one, other)
}
