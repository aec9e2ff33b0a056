import type { Draft } from '../history/conversation.ts'

/** What can be done with the messages of a conversation. */
export interface MessageActions {
  readonly retry: () => void
  /** Asks which model is to answer instead. */
  readonly retryWith: () => void
  readonly continueAnswer: () => void
  /** Opens a message of the person's for change; without an id, closes it again. */
  readonly edit: (id?: string) => void
  readonly sendEdited: (id: string, draft: Draft) => void
  /** Opens what was said before an answer for change. */
  readonly editQuestion: (answerId: string) => void
  readonly remove: (id: string) => void
  /** The request for an answer, as a command. */
  readonly curl: (answerId: string) => string
  readonly openSettings: () => void
}
