import type { AssistantMessage, ChatSettings, Conversation, Message, UserMessage } from '../history/conversation.ts'
import { titleFrom } from '../history/title.ts'
import { branchOf, leafOf, type Tree } from '../history/tree.ts'

/** Changes of conversations. Each returns a new object; unchanged messages keep their identity. */

/** Returns a conversation without messages. */
export function emptyConversation(id: string, settings: ChatSettings, now: number): Conversation {
  return { id, title: '', isTitled: false, isPinned: false, created: now, updated: now, settings, messages: [] }
}

/** Replaces the messages. The title follows the first one that is shown, unless a person chose it. */
export function withTree(conversation: Conversation, { messages, leaf }: Tree): Conversation {
  const changed = { ...conversation, messages, leaf }
  const first = branchOf(changed).find((message) => message.role === 'user')
  return conversation.isTitled || first === undefined ? changed : { ...changed, title: titleFrom(first) }
}

/** Replaces the message with the same id, at its place in the tree. */
export function withMessage(conversation: Conversation, changed: Message): Conversation {
  return {
    ...conversation,
    messages: conversation.messages.map((message) =>
      message.id === changed.id ? { ...changed, parent: message.parent } : message,
    ),
  }
}

/** Returns the messages before the one with this id; all of them if it is missing. */
export function messagesBefore(messages: readonly Message[], id: string): readonly Message[] {
  const at = messages.findIndex((message) => message.id === id)
  return at === -1 ? messages : messages.slice(0, at)
}

/** Returns the last message that is shown, if it is an answer. */
export function lastAnswer(conversation: Tree): AssistantMessage | undefined {
  const last = leafOf(conversation)
  return last?.role === 'assistant' ? last : undefined
}

/** Whether an answer is running, in any version. */
export function isAnswering({ messages }: Conversation): boolean {
  return messages.findLast((message) => message.role === 'assistant' && message.status === 'streaming') !== undefined
}

/** Whether an answer has anything to show. */
export function hasContent({ text, reasoning, tools }: AssistantMessage): boolean {
  return text !== '' || reasoning !== '' || tools !== undefined
}

/** Whether an answer can be continued. */
export function canContinue({ text, status, finishReason }: AssistantMessage): boolean {
  if (text.trim() === '') return false
  return (
    status === 'interrupted' ||
    status === 'stopped' ||
    status === 'failed' ||
    (status === 'complete' && finishReason === 'length')
  )
}

/** Returns the answer as running, without its previous error and finish reason. @param id of the request for it */
export function resumed({ error: _, finishReason: __, ...answer }: AssistantMessage, id: string): AssistantMessage {
  const { text, reasoning } = answer
  return { ...answer, status: 'streaming', live: { id, text: text.length, reasoning: reasoning.length } }
}

/** Returns the person's last message. */
export function lastQuestion(messages: readonly Message[]): UserMessage | undefined {
  return messages.findLast((message) => message.role === 'user')
}

/**
 * Adopts another state of the conversation, such as another tab's. Equal messages keep their identity, so React does
 * not render them again.
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

function haveSameIds(one: readonly { readonly id: string }[] = [], other: typeof one = []): boolean {
  return one.length === other.length && one.every(({ id }, index) => id === other[index]?.id)
}

/** Compares all members that can change. Images and files never change. */
function isAlike(one: Message, other: Message): boolean {
  if (one.parent !== other.parent) return false
  if (one.role === 'user')
    return (
      other.role === 'user' &&
      one.text === other.text &&
      haveSameIds(one.images, other.images) &&
      haveSameIds(one.files, other.files)
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

function detailsOf({ live, error, finishReason, tools, provenance }: AssistantMessage): string {
  return JSON.stringify([live, error, finishReason, tools, provenance])
}
