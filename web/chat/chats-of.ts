import type { HistoryStore } from '../history/conversation.ts'
import type { Services } from '../services.ts'
import { openChats, type Chats } from './chats.ts'

/** One per history, so an answer continues when its view is closed, and users never share conversations. */
const known = new WeakMap<HistoryStore, Chats>()

/** Returns the open conversations of a history: always the same object. */
export function chatsOf({ boot, client, history }: Pick<Services, 'boot' | 'client' | 'history'>): Chats {
  const found = known.get(history) ?? openChats({ client, history, titleModel: boot.titleModel })
  known.set(history, found)
  return found
}
