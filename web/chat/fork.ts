import type { Conversation, Message } from '../history/conversation.ts'
import { branchOf } from '../history/tree.ts'
import { say } from '../texts/say.ts'

/** Returns a new conversation with the shown messages until one of them. */
export function forkOf(conversation: Conversation, messageId: string, id: string, now: number): Conversation {
  const branch = branchOf(conversation)
  const end = branch.findIndex((message) => message.id === messageId)
  const title = conversation.title.slice(0, forkedTitleMax)
  return {
    ...conversation,
    id,
    title: title.endsWith(forkMark) ? title : title + forkMark,
    isTitled: true,
    isPinned: false,
    created: now,
    updated: now,
    messages: branch.slice(0, end + 1).map((message) => ({ ...ended(message), parent: undefined })),
    leaf: undefined,
  }
}

const forkMark = say.chat.forkMark,
  forkedTitleMax = 200

/** A running answer of the other conversation does not go on in a fork. */
function ended(message: Message): Message {
  return message.role === 'assistant' && message.status === 'streaming'
    ? { ...message, status: 'interrupted' }
    : message
}
