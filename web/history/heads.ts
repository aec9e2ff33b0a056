import type { Conversation, ConversationHead } from './conversation.ts'

/** What a list shows of it. */
export function headOf({ id, title, isPinned, created, updated, messages }: Conversation): ConversationHead {
  return { id, title, isPinned, created, updated, messageCount: messages.length }
}

/** The latest first. */
export function byTime(one: ConversationHead, other: ConversationHead): number {
  return other.updated - one.updated || (one.id < other.id ? -1 : 1)
}

/** Pinned ones first, then the latest first. */
export function inOrder(one: ConversationHead, other: ConversationHead): number {
  return Number(other.isPinned) - Number(one.isPinned) || byTime(one, other)
}
