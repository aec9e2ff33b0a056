import { isRecord } from '../../src/wire/json-value.ts'
import type { AssistantMessage, Conversation } from '../history/conversation.ts'
import { lastAnswer, withMessage } from './conversation-changes.ts'

/**
 * Keeps the last words of an answer when the page goes: the history is asynchronous, and may come too late then. Gone
 * with the tab.
 */
export interface Rescue {
  put(conversationId: string, answer: AssistantMessage): void
  /** The conversation with what was rescued of its last answer, and forgets that. */
  take(conversation: Conversation): Conversation
}

/** @param storage the tab's; absent: it is forbidden */
export function rescue(
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined = tabStorage(),
): Rescue {
  return {
    put(conversationId, { id, text, reasoning }) {
      try {
        storage?.setItem(keyOf(conversationId), JSON.stringify({ id, text, reasoning }))
      } catch {
        // Full: what was kept a second ago has to do.
      }
    },
    take(conversation) {
      const key = keyOf(conversation.id)
      const found = parsed(storage?.getItem(key) ?? null)
      storage?.removeItem(key)
      const answer = lastAnswer(conversation)
      if (found === undefined || answer?.id !== found.id || answer.status !== 'interrupted') return conversation
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

/** What lasts as long as the tab; absent where that is forbidden. */
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
    return undefined // Somebody else's, or cut: nothing of ours.
  }
}

/** What was rescued goes on where what was kept ends; anything else is of another attempt. */
function longer(kept: string, rescued: string): string {
  return rescued.startsWith(kept) ? rescued : kept
}
