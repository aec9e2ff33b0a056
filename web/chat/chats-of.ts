import type { HistoryStore } from '../history/conversation.ts'
import type { Services } from '../services.ts'
import { openChats, type Chats } from './chats.ts'

/** Each history's own: an answer goes on when the view of it is gone, and nobody meets another's conversations. */
const known = new WeakMap<HistoryStore, Chats>()

/** The conversations that are open, the same ones every time. */
export function chatsOf({ client, history }: Pick<Services, 'client' | 'history'>): Chats {
  const found = known.get(history) ?? openChats({ client, history })
  known.set(history, found)
  return found
}
