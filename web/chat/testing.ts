import type { AssistantMessage, ImageAttachment, UserMessage } from '../history/conversation.ts'
import { newId } from '../new-id.ts'

/** What a person said, at time 0. */
export function userMessage(text: string, images: readonly ImageAttachment[] = []): UserMessage {
  return { role: 'user', id: newId(), time: 0, text, images }
}

/** A complete answer at time 0; `more` replaces and adds members. */
export function answerMessage(more: Partial<AssistantMessage> = {}): AssistantMessage {
  return { role: 'assistant', id: newId(), time: 0, text: 'answer', reasoning: '', status: 'complete', ...more }
}
