import type { ApiClient } from '../api/client.ts'
import type { ChatSettings, HistoryStore } from '../history/conversation.ts'
import { chatController, type ChatController } from './chat-controller.ts'
import type { FrameClock } from './frames.ts'

/** The conversations that are open: an answer goes on while another one is looked at. */
export interface Chats {
  /** The conversation of this id. @param begins it does not exist yet, and begins with these settings */
  open(id: string, begins?: ChatSettings): ChatController
}

/** What {@link openChats} needs. */
export interface ChatsOptions {
  readonly client: Pick<ApiClient, 'fetch' | 'get'>
  readonly history: HistoryStore
  readonly frameClock?: FrameClock
  /** Tells when the page may be going; for tests, another. */
  readonly page?: Pick<Window, 'addEventListener'>
}

/** So many are remembered; of those in which nothing is under way. */
const idleMost = 8

/** No conversation is open yet. */
export function openChats({ client, history, frameClock, page = window }: ChatsOptions): Chats {
  /** The one opened last is the last. */
  const open = new Map<string, ChatController>()

  function forgetSome(): void {
    const idle = [...open.values()].filter((chat) => chat.isIdle())
    for (const chat of idle.slice(0, Math.max(0, idle.length - idleMost))) {
      chat.close()
      open.delete(chat.id)
    }
  }

  page.addEventListener('pagehide', () => {
    for (const chat of open.values()) chat.keepNow()
  })

  return {
    open(id, begins) {
      const chat = open.get(id) ?? chatController({ id, begins, client, history, frameClock })
      open.delete(id)
      forgetSome()
      open.set(id, chat)
      return chat
    },
  }
}
