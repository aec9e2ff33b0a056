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
import { useFollow } from './use-follow.ts'

const RetryWith = lazily(async () => (await import('./chat-tools.ts')).RetryWith)

/** A conversation as its view shows it: the only one of the chat view, or one of a comparison. */
export interface ChatColumn {
  readonly state: ChatState
  /** The messages of the shown versions. */
  readonly messages: readonly Message[]
  readonly isBusy: boolean
  readonly actions: MessageActions
  /** Scrolls to the end of the messages. */
  readonly toEnd: () => void
  /** Renders the messages, above other content, and the dialog that asks another model. */
  readonly show: (content: ReactNode) => ReactNode
}

/** Follows a conversation, and makes the actions on its messages. The options have to be the same at every render. */
export function useChatColumn(
  chat: ChatController,
  { model, openSettings, copyTexts }: Pick<MessageActionsOptions, 'model' | 'openSettings' | 'copyTexts'>,
): ChatColumn {
  const { boot, history } = useServices()
  const state = useStore(chat.state)
  const { conversation, isAnsweredElsewhere } = state
  const messages = useMemo(() => branchOf(conversation), [conversation])
  const places = useMemo(() => versionPlaces(conversation), [conversation])
  const follow = useFollow(messages.length > 0)
  const [editedId, edit] = useState<string>()
  const [isRetryingWith, setRetryingWith] = useState(false)
  const { toEnd } = follow
  const { isClosed } = boot
  const actions = useMemo(() => {
    const retryWith = (): void => setRetryingWith(true)
    return messageActions({ chat, model, isClosed, history, copyTexts, toEnd, edit, retryWith, openSettings })
  }, [chat, copyTexts, history, isClosed, model, openSettings, toEnd])
  const endRetryWith = (): void => setRetryingWith(false)
  const show = (content: ReactNode): ReactNode => (
    <>
      <MessageList {...{ messages, places, editedId, isAnsweredElsewhere, actions, follow }}>
        {content}
        <ConversationPhase state={state} onRestore={() => chat.restore()} />
      </MessageList>
      {isRetryingWith ? (
        <RetryWith
          model={model}
          onClose={endRetryWith}
          onRetry={(name) => {
            endRetryWith()
            actions.retryAs(name)
          }}
        />
      ) : null}
    </>
  )
  return { state, messages, isBusy: isAnswering(conversation), actions, toEnd, show }
}
