import { navigate } from '../app/route.ts'
import type { Conversation, Draft, HistoryStore, Message } from '../history/conversation.ts'
import { branchOf, versionsOf } from '../history/tree.ts'
import { messageOf } from '../message-of.ts'
import { newId } from '../new-id.ts'
import { formatCount } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { focusContent } from '../ui/focus-content.ts'
import type { ChatController } from './chat-controller.ts'
import { lastQuestion, messagesBefore } from './conversation-changes.ts'

/** Actions on the messages of a conversation. */
export interface MessageActions {
  readonly retry: () => void
  /** Requests another version of an earlier answer. */
  readonly retryEarlier: (answerId: string) => void
  /** Requests another answer from this model, and uses it from now on. */
  readonly retryAs: (model: string) => void
  /** Opens the dialog that chooses another model for the answer. */
  readonly retryWith: () => void
  readonly continueAnswer: () => void
  /** Opens an own message for editing; without an id, closes the editor. */
  readonly edit: (id?: string) => void
  readonly sendEdited: (id: string, draft: Draft) => void
  /** Opens the question before an answer for editing. */
  readonly editQuestion: (answerId: string) => void
  readonly remove: (id: string) => void
  /** Shows the next version of a message; with -1 the one before. Goes around at both ends. */
  readonly stepVersion: (id: string, step: 1 | -1) => void
  /** Opens a new conversation with the messages until this one. */
  readonly fork: (id: string) => void
  /** Model and input length of the request for an answer. */
  readonly asked: (answerId: string) => RequestSize
  /** The request for an answer, as a curl command. */
  readonly curl: (answerId: string) => Promise<string>
  readonly openSettings: () => void
}

/** Model and input length of a request. */
export interface RequestSize {
  readonly model: string | undefined
  readonly characters: number
}

/** Announced after a copy of a conversation. */
export interface CopyTexts {
  readonly opened: string
  readonly failed: (why: string) => string
}

/** Stores a copy of a conversation, and opens it. */
export async function openCopy(
  history: HistoryStore,
  copy: Conversation | Promise<Conversation>,
  { opened, failed }: CopyTexts,
): Promise<void> {
  try {
    const { id } = await copy
    await history.put(await copy)
    navigate({ view: 'chat', id })
    announce(opened)
  } catch (error) {
    announce(failed(messageOf(error)))
  }
}

export interface MessageActionsOptions {
  readonly chat: ChatController
  /** The selected model. */
  readonly model: string | undefined
  /** Whether sign-in is required. */
  readonly isClosed: boolean
  /** Gets copies of the conversation. */
  readonly history: HistoryStore
  readonly copyTexts: CopyTexts
  readonly toEnd: () => void
  readonly edit: (id: string | undefined) => void
  readonly retryWith: () => void
  readonly openSettings: () => void
}

/** Creates the actions of a conversation. If the focused element disappears, the message field gets the focus. */
export function messageActions({
  chat,
  model,
  isClosed,
  history,
  copyTexts,
  toEnd,
  edit,
  retryWith,
  openSettings,
}: MessageActionsOptions): MessageActions {
  const messages = (): readonly Message[] => branchOf(chat.state.get().conversation)

  function ask(how: (model: string) => void): void {
    if (model === undefined) return
    how(model)
    showEnd()
  }

  function showEnd(): void {
    toEnd()
    focusContent()
  }

  return {
    retry: () => ask((asked) => chat.retry(asked)),
    retryEarlier: (answerId) => ask((asked) => chat.retry(asked, answerId)),
    retryAs(other) {
      chat.retry(other)
      showEnd()
    },
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
    stepVersion(id, step) {
      const versions = versionsOf(chat.state.get().conversation, id)
      const at = (versions.findIndex((version) => version.id === id) + step + versions.length) % versions.length
      const next = versions[at]
      if (next === undefined) return
      chat.showVersion(next.id)
      announce(say.chat.versionOf(formatCount(at + 1), formatCount(versions.length)))
    },
    fork: (id) => void openCopy(history, forked(chat.state.get().conversation, id), copyTexts),
    asked(answerId) {
      const lengths = messagesBefore(messages(), answerId).map(({ text }) => text.length)
      return {
        model,
        characters: lengths.reduce((sum, length) => sum + length, chat.state.get().conversation.settings.system.length),
      }
    },
    async curl(answerId) {
      const { curlOf } = await import('./curl-of.ts')
      return curlOf({
        origin: location.origin,
        settings: { ...chat.state.get().conversation.settings, model: model ?? '' },
        messages: messagesBefore(messages(), answerId),
        isClosed,
      })
    },
    openSettings,
  }
}

async function forked(conversation: Conversation, messageId: string): Promise<Conversation> {
  const { forkOf } = await import('./fork.ts')
  return forkOf(conversation, messageId, newId(), Date.now())
}
