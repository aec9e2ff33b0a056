import { createStore } from '../store.ts'

/** A message that a search found, in the conversation that was opened for it. */
export interface FoundMessage {
  readonly conversationId: string
  readonly messageId: string
}

/** The message to show as soon as its conversation is read. */
export const foundMessage = createStore<FoundMessage | undefined>(undefined)
