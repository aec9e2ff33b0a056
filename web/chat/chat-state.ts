import type { RequestEntry } from '../../src/observe/request-entry.ts'
import type { AssistantMessage, ChatSettings, Conversation, Message } from '../history/conversation.ts'
import { branchOf, leafOf, merged, withoutMessage, withShown, type Tree } from '../history/tree.ts'
import {
  emptyConversation,
  hasContent,
  lastAnswer,
  messagesBefore,
  withMessage,
  withTree,
} from './conversation-changes.ts'
import type { HeadChanges } from './conversation-store.ts'
import { withRecord } from './provenance.ts'

/** State of a conversation view. */
export interface ChatState {
  readonly phase:
    /** The history is being read. */
    | 'loading'
    | 'ready'
    /** The history has no such conversation, or it was removed. */
    | 'missing'
    /** Reading failed; see `failure`. */
    | 'unreadable'
  readonly conversation: Conversation
  /** The messages before the last one was deleted. */
  readonly undeleted?: Tree
  /** Why reading or saving failed. */
  readonly failure?: Error
  /** Whether another tab is receiving the last answer, if that is `interrupted`. `undefined`: not known yet. */
  readonly isAnsweredElsewhere: boolean | undefined
}

/** A pure step from one state to the next. A step without effect returns the same state. */
type Step = (state: ChatState) => ChatState

/** Settings of a new conversation. */
export const noSettings: ChatSettings = { system: '', parameters: {} }

/** Returns the first state: of a new conversation with these settings, or of a stored one that is not read yet. */
export function initialState(id: string, begins: ChatSettings | undefined, now: number): ChatState {
  return {
    phase: begins === undefined ? 'loading' : 'ready',
    conversation: emptyConversation(id, begins ?? noSettings, now),
    isAnsweredElsewhere: undefined,
  }
}

/** Every change of a conversation's state, as a step of `Store.update`. Times are Unix milliseconds. */
export const steps = {
  /** The history has this state. */
  found: (conversation: Conversation): Step => patched(() => ({ phase: 'ready', conversation })),
  missing: patched(() => ({ phase: 'missing' })),
  unreadable: (failure: Error): Step => patched(() => ({ phase: 'unreadable', failure })),
  /** The person keeps a conversation that was removed. */
  restored: patched(() => ({ phase: 'ready' })),
  /** A write ended, with its failure if there was one. */
  saved:
    (failure: Error | undefined): Step =>
    (state) => {
      const { failure: before, ...rest } = state
      if (before === failure) return state
      return failure === undefined ? rest : { ...rest, failure }
    },
  answeredElsewhere: (isAnsweredElsewhere: boolean | undefined): Step => patched(() => ({ isAnsweredElsewhere })),
  /** Another tab changed the head. */
  headChanged: (head: HeadChanges): Step => onConversation((conversation) => ({ ...conversation, ...head })),
  /** Another tab changed messages, except the running answer. */
  merged: (other: Tree, answerId: string): Step =>
    onConversation((conversation) => ({ ...conversation, ...merged(conversation, other, answerId) })),
  /** An answer is requested: it is in the tree already, and has just started. Nothing can be undone any more. */
  asked:
    (tree: Tree, started: AssistantMessage, model: string, now: number): Step =>
    ({ undeleted: _, ...state }) => ({
      ...state,
      isAnsweredElsewhere: false,
      conversation: {
        ...withMessage(withTree(state.conversation, tree), started),
        settings: { ...state.conversation.settings, model },
        updated: now,
      },
    }),
  /** A message has changed. */
  changed: (message: Message): Step => onConversation((conversation) => withMessage(conversation, message)),
  /** The answer has ended. */
  answered: (answer: AssistantMessage, now: number): Step =>
    patched(({ conversation }) => ({
      isAnsweredElsewhere: false,
      conversation: { ...withMessage(conversation, answer), updated: now },
    })),
  /** The service does not have the answer any more. */
  gone: (answerId: string): Step => onAnswer(answerId, (answer) => ({ ...answer, live: undefined })),
  /** The service's record of a request. That of a replaced answer changes nothing. */
  recorded: (answerId: string, record: RequestEntry): Step =>
    onAnswer(answerId, (answer) =>
      answer.provenance?.requestId === record.id
        ? { ...answer, provenance: withRecord(answer.provenance, record) }
        : answer,
    ),
  /** A title was made. */
  titled: (title: string): Step => onConversation((conversation) => ({ ...conversation, title, isTitled: true })),
  /** The title follows the first question again, whose formulas are readable now. */
  retitled: onConversation((conversation) => {
    const again = withTree(conversation, conversation)
    return again.title === conversation.title ? conversation : again
  }),
  /** The version with this message is shown. */
  shown: (messageId: string): Step =>
    onConversation((conversation) => withTree(conversation, withShown(conversation, messageId))),
  removed: (messageId: string, now: number): Step =>
    patched(({ conversation }) => ({
      undeleted: { messages: conversation.messages, leaf: conversation.leaf },
      conversation: { ...withTree(conversation, withoutMessage(conversation, messageId)), updated: now },
    })),
  /** Restores the message that was removed last. */
  undone:
    (now: number): Step =>
    (state) => {
      const { undeleted, ...rest } = state
      if (undeleted === undefined) return state
      return { ...rest, conversation: { ...withTree(rest.conversation, undeleted), updated: now } }
    },
  undoDismissed: ({ undeleted: _, ...state }: ChatState): ChatState => state,
  settingsChanged: (settings: ChatSettings): Step => onConversation((conversation) => ({ ...conversation, settings })),
}

function patched(change: (state: ChatState) => Partial<ChatState>): Step {
  return (state) => ({ ...state, ...change(state) })
}

function onConversation(change: (conversation: Conversation) => Conversation): Step {
  return (state) => {
    const conversation = change(state.conversation)
    return conversation === state.conversation ? state : { ...state, conversation }
  }
}

function onAnswer(answerId: string, change: (answer: AssistantMessage) => AssistantMessage): Step {
  return onConversation((conversation) => {
    const found = conversation.messages.find(({ id }) => id === answerId)
    const changed = found?.role === 'assistant' ? change(found) : found
    return changed === undefined || changed === found ? conversation : withMessage(conversation, changed)
  })
}

/** A place for a new version: the messages that stay, and the one that it follows. */
export interface VersionPlan {
  readonly tree: Tree
  readonly parent: string | undefined
}

/**
 * Returns the place for another version of an answer. The last answer is replaced if it has no content.
 *
 * @param answerId absent: the last one that is shown
 */
export function retryOf(conversation: Conversation, answerId?: string): VersionPlan {
  const last = lastAnswer(conversation)
  const id = answerId ?? last?.id
  const parent = id === undefined ? leafOf(conversation)?.id : parentOf(conversation, id)
  const isReplaced = last !== undefined && last.id === id && !hasContent(last)
  return { tree: isReplaced ? withoutMessage(conversation, last.id) : conversation, parent }
}

/** Returns the id of the shown message before another one. */
export function parentOf(conversation: Conversation, messageId: string): string | undefined {
  return messagesBefore(branchOf(conversation), messageId).at(-1)?.id
}

/** Whether a message is in the conversation, but in a version that is not shown. */
export function isHidden(conversation: Conversation, messageId: string): boolean {
  const isIn = (messages: readonly Message[]): boolean => messages.some(({ id }) => id === messageId)
  return isIn(conversation.messages) && !isIn(branchOf(conversation))
}

/** Returns the last answer whose connection was lost, and that may be running in the service. */
export function lostAnswer({ messages }: Conversation): AssistantMessage | undefined {
  return messages.findLast(
    (message): message is AssistantMessage =>
      message.role === 'assistant' && message.status === 'interrupted' && message.live !== undefined,
  )
}
