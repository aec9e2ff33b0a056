import { isRecord } from '../../src/base/json-value.ts'
import type { AssistantMessage, Conversation } from '../history/conversation.ts'
import { withMessage } from './conversation-changes.ts'

/**
 * Backs up a running answer when the page is unloaded, since the asynchronous history may be too late. Ends with the
 * tab.
 */
export interface AnswerBackup {
  put(conversationId: string, answer: AssistantMessage): void
  /** Merges the backup of the last answer into the conversation, and deletes it. */
  take(conversation: Conversation): Conversation
}

/** Creates the backup. @param storage session storage; absent if forbidden */
export function answerBackup(
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined = tabStorage(),
): AnswerBackup {
  return {
    put(conversationId, { id, text, reasoning }) {
      try {
        storage?.setItem(keyOf(conversationId), JSON.stringify({ id, text, reasoning }))
      } catch {
        // Full: the last saved state must do.
      }
    },
    take(conversation) {
      const key = keyOf(conversation.id)
      const found = parsed(storage?.getItem(key) ?? null)
      storage?.removeItem(key)
      const answer = conversation.messages.find(({ id }) => id === found?.id)
      if (found === undefined || answer?.role !== 'assistant' || answer.status !== 'interrupted') return conversation
      return withMessage(conversation, {
        ...answer,
        text: longer(answer.text, found.text),
        reasoning: longer(answer.reasoning, found.reasoning),
      })
    },
  }
}

function keyOf(conversationId: string): string {
  return `svc.rescued.${conversationId}`
}

/** Returns the session storage; `undefined` if it is forbidden. */
export function tabStorage(): Storage | undefined {
  try {
    return globalThis.sessionStorage
  } catch {
    return undefined
  }
}

function parsed(json: string | null): Pick<AssistantMessage, 'id' | 'text' | 'reasoning'> | undefined {
  const value = json === null ? undefined : parsedJson(json)
  if (!isRecord(value)) return undefined
  const { id, text, reasoning } = value
  return typeof id === 'string' && typeof text === 'string' && typeof reasoning === 'string'
    ? { id, text, reasoning }
    : undefined
}

function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined // Damaged, or not written by this page.
  }
}

/** The backup continues the saved text; anything else belongs to another attempt. */
function longer(saved: string, backup: string): string {
  return backup.startsWith(saved) ? backup : saved
}
