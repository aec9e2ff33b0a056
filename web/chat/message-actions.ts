import type { Draft, Message } from '../history/conversation.ts'
import { focusContent } from '../ui/focus-content.ts'
import type { ChatController } from './chat-controller.ts'
import { lastQuestion, messagesBefore } from './conversation-changes.ts'
import { curlOf } from './curl-of.ts'

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

/** What {@link messageActions} needs. */
export interface MessageActionsOptions {
  readonly chat: ChatController
  /** The model that is asked. */
  readonly model: string | undefined
  /** Whether somebody has to be signed in. */
  readonly isClosed: boolean
  readonly toEnd: () => void
  readonly edit: (id: string | undefined) => void
  readonly retryWith: () => void
  readonly openSettings: () => void
}

/** The actions of one conversation. What had the focus may go away with them: it goes back to where one writes. */
export function messageActions({
  chat,
  model,
  isClosed,
  toEnd,
  edit,
  retryWith,
  openSettings,
}: MessageActionsOptions): MessageActions {
  const messages = (): readonly Message[] => chat.state.get().conversation.messages

  function ask(how: (model: string) => void): void {
    if (model === undefined) return
    how(model)
    toEnd()
    focusContent()
  }

  return {
    retry: () => ask((asked) => chat.retry(asked)),
    retryWith,
    continueAnswer: () => ask((asked) => chat.continueAnswer(asked)),
    edit(id) {
      edit(id)
      if (id === undefined) focusContent()
    },
    sendEdited(id, draft) {
      edit(undefined)
      ask((asked) => chat.edit(id, draft, asked))
    },
    editQuestion: (answerId) => edit(lastQuestion(messagesBefore(messages(), answerId))?.id),
    remove(id) {
      chat.removeMessage(id)
      focusContent()
    },
    curl: (answerId) =>
      curlOf({
        origin: location.origin,
        settings: { ...chat.state.get().conversation.settings, model: model ?? '' },
        messages: messagesBefore(messages(), answerId),
        isClosed,
      }),
    openSettings,
  }
}
