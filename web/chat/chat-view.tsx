import { useState, type ReactNode } from 'react'
import { navigate } from '../app/route.ts'
import { newId } from '../new-id.ts'
import { useServices } from '../services.ts'
import { chatsOf } from './chats-of.ts'
import { ConversationView } from './conversation-view.tsx'

/** What {@link ChatView} shows. */
export interface ChatViewProps {
  /** Of the conversation; absent: a new one. */
  readonly id?: string
}

/** A conversation, or the beginning of one. What begins here stays as it is when its address gets an id. */
export function ChatView({ id }: ChatViewProps): ReactNode {
  const services = useServices()
  const [next, setNext] = useState({ id: newId(), isBegun: false })
  // Back at the beginning after one has begun: another one.
  if (id === undefined && next.isBegun) setNext({ id: newId(), isBegun: false })
  if (id !== undefined && id === next.id && !next.isBegun) setNext({ ...next, isBegun: true })
  const shown = id ?? next.id
  const chat = chatsOf(services).open(shown, id === undefined ? { system: '', parameters: {} } : undefined)
  return (
    <ConversationView
      key={shown}
      chat={chat}
      isNew={id === undefined}
      onBegin={() => navigate({ view: 'chat', id: shown }, { replaces: true })}
    />
  )
}
