import { useState, type ReactNode } from 'react'
import { navigate } from '../app/route.ts'
import type { HistoryStore } from '../history/conversation.ts'
import { newId } from '../new-id.ts'
import { useServices, type Services } from '../services.ts'
import { openChats, type Chats } from './chats.ts'
import { ConversationView } from './conversation-view.tsx'

export interface ChatViewProps {
  /** Id of the conversation; absent for a new one. */
  readonly id?: string
}

/** A conversation. A new one stays mounted when its address gets the id. */
export function ChatView({ id }: ChatViewProps): ReactNode {
  const services = useServices()
  const [next, setNext] = useState({ id: newId(), isStarted: false })
  // Back at a new chat after the previous one has started: use another id.
  if (id === undefined && next.isStarted) setNext({ id: newId(), isStarted: false })
  if (id !== undefined && id === next.id && !next.isStarted) setNext({ ...next, isStarted: true })
  const shown = id ?? next.id
  const chat = chatsOf(services).open(shown, id === undefined ? { system: '', parameters: {} } : undefined)
  return (
    <ConversationView
      key={shown}
      chat={chat}
      isNew={id === undefined}
      onStart={() => navigate({ view: 'chat', id: shown }, { replaces: true })}
    />
  )
}

/** One per history, so an answer continues when its view is closed, and users never share conversations. */
const known = new WeakMap<HistoryStore, Chats>()

/** Returns the open conversations of a history: always the same object. */
function chatsOf({ boot, client, history }: Pick<Services, 'boot' | 'client' | 'history'>): Chats {
  const found = known.get(history) ?? openChats({ client, history, titleModel: boot.titleModel })
  known.set(history, found)
  return found
}
