import type { AssistantMessage, ChatSettings, Conversation, Message, UserMessage } from '../history/conversation.ts'
import { titleFrom } from '../history/title.ts'

/** Changes of a conversation: each gives a new one, and keeps the messages it does not change as they are. */

/** One in which nothing was said yet. */
export function emptyConversation(id: string, settings: ChatSettings, now: number): Conversation {
  return { id, title: '', isTitled: false, isPinned: false, created: now, updated: now, settings, messages: [] }
}

/** With these messages; called after the first, unless a person chose a title. */
export function withMessages(conversation: Conversation, messages: readonly Message[], now: number): Conversation {
  const first = messages.find((message) => message.role === 'user')
  const title = conversation.isTitled || first === undefined ? conversation.title : titleFrom(first)
  return { ...conversation, title, messages, updated: now }
}

/** With another message in the place of the one with its id. */
export function withMessage(conversation: Conversation, changed: Message): Conversation {
  return {
    ...conversation,
    messages: conversation.messages.map((message) => (message.id === changed.id ? changed : message)),
  }
}

/** The messages before this one; all, when there is none of this id. */
export function messagesBefore(messages: readonly Message[], id: string): readonly Message[] {
  const at = messages.findIndex((message) => message.id === id)
  return at === -1 ? messages : messages.slice(0, at)
}

/** The answer that is given, or was given last. */
export function lastAnswer({ messages }: Conversation): AssistantMessage | undefined {
  const last = messages.at(-1)
  return last?.role === 'assistant' ? last : undefined
}

/** Whether an answer is on its way. */
export function isAnswering(conversation: Conversation): boolean {
  return lastAnswer(conversation)?.status === 'streaming'
}

/** Whether an answer may be taken up where it ended. */
export function canContinue({ text, status, finishReason }: AssistantMessage): boolean {
  if (text.trim() === '') return false
  return (
    status === 'interrupted' ||
    status === 'stopped' ||
    status === 'failed' ||
    (status === 'complete' && finishReason === 'length')
  )
}

/** The answer, on its way again: how it ended before does not count any more. */
export function takenUp({ error: _, finishReason: __, ...answer }: AssistantMessage): AssistantMessage {
  return { ...answer, status: 'streaming' }
}

/** What a person said last. */
export function lastQuestion(messages: readonly Message[]): UserMessage | undefined {
  return messages.findLast((message) => message.role === 'user')
}

/**
 * Another state of the same conversation, such as another tab's: messages that are alike stay the ones that are shown,
 * so that they need not be drawn anew.
 */
export function adopt(shown: Conversation, other: Conversation): Conversation {
  const known = new Map(shown.messages.map((message) => [message.id, message]))
  return {
    ...other,
    messages: other.messages.map((message) => {
      const before = known.get(message.id)
      return before !== undefined && isAlike(before, message) ? before : message
    }),
  }
}

/** Compares what can change; a picture never does. */
function isAlike(one: Message, other: Message): boolean {
  if (one.role === 'user')
    return (
      other.role === 'user' &&
      one.text === other.text &&
      one.images.length === other.images.length &&
      one.images.every(({ id }, index) => id === other.images[index]?.id)
    )
  if (
    other.role === 'user' ||
    one.text !== other.text ||
    one.reasoning !== other.reasoning ||
    one.status !== other.status
  )
    return false
  return one.logprobs?.length === other.logprobs?.length && detailsOf(one) === detailsOf(other)
}

function detailsOf({ error, finishReason, provenance }: AssistantMessage): string {
  return JSON.stringify([error, finishReason, provenance])
}
