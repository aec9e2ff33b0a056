import { useMemo, useState, type ReactNode } from 'react'
import type { Message } from '../history/conversation.ts'
import { branchOf, versionPlaces } from '../history/tree.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { lazily } from '../ui/lazily.tsx'
import type { ChatController } from './chat-controller.ts'
import type { ChatState } from './chat-state.ts'
import { isAnswering } from './conversation-changes.ts'
import { ConversationPhase } from './conversation-phase.tsx'
import { messageActions, type MessageActions, type MessageActionsOptions } from './message-actions.ts'
import { MessageList } from './message-list.tsx'
import { useFollow, type Follow } from './use-follow.ts'

const RetryWith = lazily(async () => (await import('./chat-tools.ts')).RetryWith)

/** A conversation with what its view shows of it: the only one of the chat view, or one of a comparison. */
export interface ChatColumn {
  readonly chat: ChatController
  readonly state: ChatState
  /** The messages of the shown versions. */
  readonly messages: readonly Message[]
  /** The model that is asked next. */
  readonly model: string | undefined
  readonly isBusy: boolean
  readonly actions: MessageActions
  readonly follow: Follow
  /** The message in the editor. */
  readonly editedId: string | undefined
  /** Whether another model is being chosen for the last answer. */
  readonly isRetryingWith: boolean
  readonly setRetryingWith: (isRetryingWith: boolean) => void
}

/** Follows a conversation, and makes the actions on its messages. The options have to be the same at every render. */
export function useChatColumn(
  chat: ChatController,
  { model, openSettings, copyTexts }: Pick<MessageActionsOptions, 'model' | 'openSettings' | 'copyTexts'>,
): ChatColumn {
  const { boot, history } = useServices()
  const state = useStore(chat.state)
  const { conversation } = state
  const messages = useMemo(() => branchOf(conversation), [conversation])
  const follow = useFollow(messages.length > 0)
  const [editedId, edit] = useState<string>()
  const [isRetryingWith, setRetryingWith] = useState(false)
  const { toEnd } = follow
  const { isClosed } = boot
  const actions = useMemo(() => {
    const retryWith = (): void => setRetryingWith(true)
    return messageActions({ chat, model, isClosed, history, copyTexts, toEnd, edit, retryWith, openSettings })
  }, [chat, copyTexts, history, isClosed, model, openSettings, toEnd])
  const isBusy = isAnswering(conversation)
  return { chat, state, messages, model, isBusy, actions, follow, editedId, isRetryingWith, setRetryingWith }
}

/** The messages of a conversation. @param children content below them */
export function ChatMessages({
  column: { chat, state, messages, model, actions, follow, editedId, isRetryingWith, setRetryingWith },
  children,
}: {
  readonly column: ChatColumn
  readonly children?: ReactNode
}): ReactNode {
  const { conversation, isAnsweredElsewhere } = state
  const places = useMemo(() => versionPlaces(conversation), [conversation])
  return (
    <>
      <MessageList {...{ messages, places, editedId, isAnsweredElsewhere, actions, follow }}>
        {children}
        <ConversationPhase state={state} onRestore={() => chat.restore()} />
      </MessageList>
      {isRetryingWith ? (
        <RetryWith
          model={model}
          onClose={() => setRetryingWith(false)}
          onRetry={(name) => {
            setRetryingWith(false)
            actions.retryAs(name)
          }}
        />
      ) : null}
    </>
  )
}
