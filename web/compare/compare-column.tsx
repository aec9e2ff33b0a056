import { useMemo, useState, type ReactNode } from 'react'
import { navigate } from '../app/route.ts'
import type { ChatController } from '../chat/chat-controller.ts'
import { forkOf, isAnswering } from '../chat/conversation-changes.ts'
import { NotSavedNotice } from '../chat/conversation-notices.tsx'
import { ConversationPhase } from '../chat/conversation-phase.tsx'
import { messageActions } from '../chat/message-actions.ts'
import { MessageList } from '../chat/message-list.tsx'
import { RetryWith } from '../chat/retry-with.tsx'
import { useFollow } from '../chat/use-follow.ts'
import type { Conversation } from '../history/conversation.ts'
import { branchOf, versionPlaces } from '../history/tree.ts'
import { ModelPicker } from '../models/model-picker.tsx'
import { newId } from '../new-id.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { continued } from './comparison.ts'

export interface CompareColumnProps {
  readonly column: ChatController
  /** Position from 1. */
  readonly place: number
  /** Asks the question that other columns had; absent without one. */
  readonly onCatchUp: (() => void) | undefined
  /** Absent if it cannot be removed. */
  readonly onRemove: (() => void) | undefined
  readonly onSettings: () => void
}

/** One model of a comparison: its messages as in a conversation. */
export function CompareColumn({ column, place, onCatchUp, onRemove, onSettings }: CompareColumnProps): ReactNode {
  const { boot, history } = useServices()
  const state = useStore(column.state)
  const { conversation } = state
  const { model } = conversation.settings
  const messages = useMemo(() => branchOf(conversation), [conversation])
  const places = useMemo(() => versionPlaces(conversation), [conversation])
  const follow = useFollow(messages.length > 0)
  const [editedId, setEditedId] = useState<string>()
  const [isRetryingWith, setRetryingWith] = useState(false)
  const isBusy = isAnswering(conversation)

  const actions = useMemo(() => {
    async function openAsConversation(found: Conversation): Promise<void> {
      try {
        await history.put(found)
        navigate({ view: 'chat', id: found.id })
        announce(say.compare.continued)
      } catch (error) {
        announce(say.compare.cannotBeStored(error instanceof Error ? error.message : String(error)))
      }
    }

    return {
      ...messageActions({
        chat: column,
        model,
        isClosed: boot.isClosed,
        toEnd: follow.toEnd,
        edit: setEditedId,
        retryWith: () => setRetryingWith(true),
        openSettings: onSettings,
      }),
      fork(id: string) {
        void openAsConversation(forkOf(column.state.get().conversation, id, newId(), Date.now()))
      },
      continueAll: () => void openAsConversation(continued(column.state.get().conversation, Date.now())),
    }
  }, [boot.isClosed, column, follow.toEnd, history, model, onSettings])

  return (
    <section
      aria-label={say.compare.modelAtIs(formatCount(place), model ?? say.common.noneOfThese)}
      className="flex min-h-0 min-w-0 flex-1 flex-col md:min-w-64"
    >
      <div className="flex shrink-0 items-center gap-1 border-b border-line px-2 py-1">
        <div className="flex min-w-0 flex-1">
          <ModelPicker
            model={model}
            onChange={(name) => column.changeSettings({ ...column.state.get().conversation.settings, model: name })}
          />
        </div>
        {isBusy ? <IconButton label={say.compare.stop} icon="stop" onClick={() => column.stop()} /> : null}
        {messages.length === 0 || isBusy ? null : (
          <IconButton label={say.compare.continueAlone} icon="chat" onClick={actions.continueAll} />
        )}
        {onRemove === undefined ? null : <IconButton label={say.compare.removeModel} icon="close" onClick={onRemove} />}
      </div>
      <MessageList
        messages={messages}
        places={places}
        editedId={editedId}
        isAnsweredElsewhere={state.isAnsweredElsewhere}
        actions={actions}
        follow={follow}
      >
        {state.phase === 'ready' && messages.length === 0 ? (
          <div className="flex flex-col items-center gap-3 pt-[8vh] text-center text-sm text-muted">
            <p>{model === undefined ? say.compare.chooseAbove : say.compare.answersNext}</p>
            {onCatchUp === undefined || model === undefined ? null : (
              <Button icon="play" onClick={onCatchUp}>
                {say.compare.askLast}
              </Button>
            )}
          </div>
        ) : null}
        <ConversationPhase state={state} onRestore={() => column.restore()} />
        <NotSavedNotice failure={state.phase === 'ready' ? state.failure : undefined} />
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
    </section>
  )
}
