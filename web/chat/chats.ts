import type { ApiClient } from '../api/client.ts'
import { changes } from '../history/changes.ts'
import type { ChatSettings, HistoryStore } from '../history/conversation.ts'
import { ChatController } from './chat-controller.ts'
import { isAnswering } from './conversation-changes.ts'
import type { FrameClock } from './frame-scheduler.ts'

/** The open conversations. Their answers continue while another one is shown. */
export interface Chats {
  /** Returns the conversation with this id. @param begins settings of a new conversation; absent for a stored one */
  open(id: string, begins?: ChatSettings): ChatController
}

export interface ChatsOptions {
  readonly client: Pick<ApiClient, 'fetch' | 'get'>
  readonly history: HistoryStore
  /** The model that makes titles. */
  readonly titleModel?: string | undefined
  readonly frameClock?: FrameClock
  /** Source of `pagehide` events. Replaced in tests. */
  readonly page?: Pick<Window, 'addEventListener'>
}

/** Number of idle conversations to keep open. */
const idleMax = 8

/** Creates an empty set of open conversations. */
export function openChats({ client, history, titleModel, frameClock, page = window }: ChatsOptions): Chats {
  /** Ordered by last use, the most recent last. */
  const open = new Map<string, ChatController>()

  function closeIdle(): void {
    const idle = [...open.values()].filter((chat) => chat.isIdle())
    for (const chat of idle.slice(0, Math.max(0, idle.length - idleMax))) {
      chat.close()
      open.delete(chat.id)
    }
  }

  const queries = changes('svc-answers-asked'),
    replies = changes('svc-answers-given')
  queries.subscribe((id) => {
    const chat = open.get(id)
    if (chat !== undefined && isAnswering(chat.state.get().conversation)) replies.publish(id)
  })
  replies.subscribe((id) => open.get(id)?.noteAnsweredElsewhere())

  page.addEventListener('pagehide', () => {
    for (const chat of open.values()) chat.saveNow()
  })

  return {
    open(id, begins) {
      const chat =
        open.get(id) ??
        new ChatController({ id, begins, client, history, titleModel, frameClock, askTabs: () => queries.publish(id) })
      open.delete(id)
      closeIdle()
      open.set(id, chat)
      return chat
    },
  }
}
