import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { navigate } from '../app/route.ts'
import type { HistoryStore } from '../history/conversation.ts'
import { newId } from '../new-id.ts'
import { standingPreset, withoutStanding, withStanding, type StandingPreset } from '../presets/standing-preset.ts'
import { useServices, type Services } from '../services.ts'
import { useStore } from '../store.ts'
import type { ChatController } from './chat-controller.ts'
import { noSettings } from './chat-state.ts'
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
  const userId = services.boot.user?.id
  const standing = useStore(useMemo(() => standingPreset(userId), [userId]))
  const chat = chatsOf(services).open(shown, id === undefined ? withStanding(noSettings, standing) : undefined)
  useStanding(id === undefined ? chat : undefined, standing)
  return (
    <ConversationView
      key={shown}
      chat={chat}
      isNew={id === undefined}
      onStart={() => navigate({ view: 'chat', id: shown }, { replaces: true })}
    />
  )
}

/**
 * Gives a conversation without messages another standing preset, when one is chosen.
 *
 * @param chat absent: it has messages
 */
function useStanding(chat: ChatController | undefined, standing: StandingPreset | undefined): void {
  const services = useServices()
  const before = useRef(standing)
  const isThere = standing !== undefined
  // The preset may have changed since the copy was made.
  useEffect(() => {
    if (isThere) void import('../presets/presets-page.ts').then(({ presetsOf }) => presetsOf(services).refresh())
  }, [isThere, services])
  useEffect(() => {
    const { current } = before
    before.current = standing
    if (chat === undefined || current === standing) return
    const { settings } = chat.state.get().conversation
    chat.changeSettings(withStanding(current === undefined ? settings : withoutStanding(settings, current), standing))
  }, [chat, standing])
}

/** One per history, so an answer continues when its view is closed, and users never share conversations. */
const known = new WeakMap<HistoryStore, Chats>()

/** Returns the open conversations of a history: always the same object. */
function chatsOf({ boot, client, history }: Pick<Services, 'boot' | 'client' | 'history'>): Chats {
  const found = known.get(history) ?? openChats({ client, history, titleModel: boot.titleModel })
  known.set(history, found)
  return found
}
