import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { displayNameOf } from '../app/display-name.ts'
import { noteChosen, recentModels } from '../models/favourites.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { focusContent } from '../ui/focus-content.ts'
import type { ChatController } from './chat-controller.ts'
import { Composer } from './composer.tsx'
import { isAnswering, lastAnswer, lastQuestion } from './conversation-changes.ts'
import { ConversationHeader } from './conversation-header.tsx'
import { ConversationPhase } from './conversation-phase.tsx'
import { EmptyChat } from './empty-chat.tsx'
import { KeptNotice, ReplacedNotice } from './kept-notices.tsx'
import { messageActions } from './message-actions.ts'
import { MessageList } from './message-list.tsx'
import { ModelsNotice } from './models-notice.tsx'
import { RetryWith } from './retry-with.tsx'
import { useAnnouncements } from './use-announcements.ts'
import { useAttachments } from './use-attachments.ts'
import { useDraft } from './use-draft.ts'
import { useDrop } from './use-drop.ts'
import { useEscape } from './use-escape.ts'
import { useFollow } from './use-follow.ts'
import { useModel } from './use-model.ts'

/** What {@link ConversationView} shows. */
export interface ConversationViewProps {
  readonly chat: ChatController
  /** Nothing was said yet. */
  readonly isNew: boolean
  /** Told when something was. */
  readonly onBegin: () => void
}

/** One conversation: above it what is asked, in the middle the messages, below where one writes. */
export function ConversationView({ chat, isNew, onBegin }: ConversationViewProps): ReactNode {
  const { boot, history, models } = useServices()
  const state = useStore(chat.state)
  const {
    phase,
    conversation: { title, settings, messages },
  } = state
  const { state: modelsState, model } = useModel(settings.model)
  const drafts = useDraft(history, isNew ? 'new' : chat.id, boot.user?.id ?? '')
  const attachments = useAttachments(drafts)
  const drop = useDrop(attachments.add)
  const follow = useFollow(messages.length > 0)
  const field = useRef<HTMLTextAreaElement>(null)
  const [editedId, setEditedId] = useState<string>()
  const [isRetryingWith, setRetryingWith] = useState(false)
  const [isSettingsOpen, setSettingsOpen] = useState(false)
  const isBusy = isAnswering(state.conversation)
  const obstacle =
    model === undefined
      ? modelsState.kind === 'loading'
        ? 'Looking for models…'
        : 'There is no model to ask.'
      : undefined

  const actions = useMemo(
    () =>
      messageActions({
        chat,
        model,
        isClosed: boot.isClosed,
        toEnd: follow.toEnd,
        edit: setEditedId,
        retryWith: () => setRetryingWith(true),
        openSettings: () => setSettingsOpen(true),
      }),
    [chat, model, boot.isClosed, follow.toEnd],
  )
  const chooseModel = useCallback(
    (name: string) => chat.changeSettings({ ...chat.state.get().conversation.settings, model: name }),
    [chat],
  )
  useAnnouncements(lastAnswer(state.conversation))
  useEscape(isBusy, () => chat.stop())
  useEffect(() => {
    document.title = `${title === '' ? 'Chat' : title} · svc`
  }, [title])

  function send(): void {
    if (model === undefined) return
    const draft = drafts.current()
    drafts.clear()
    noteChosen(recentModels(boot.user?.id), model)
    chat.send(draft, model)
    follow.toEnd()
    if (isNew) onBegin()
  }

  function endReplacing(end: () => void): void {
    end()
    focusContent()
  }

  function useExample(text: string): void {
    drafts.change((draft) => ({ ...draft, text }))
    field.current?.focus()
  }

  return (
    <div className={`flex h-full flex-col ${drop.isOver ? 'bg-hover' : ''}`} {...drop.handlers}>
      <ConversationHeader
        title={phase === 'ready' || messages.length > 0 ? title : 'Conversation'}
        model={model}
        settings={settings}
        onModel={chooseModel}
        onSettings={chat.changeSettings}
        isOpen={isSettingsOpen}
        setOpen={setSettingsOpen}
      />
      <MessageList
        messages={messages}
        editedId={editedId}
        isElsewhere={state.isElsewhere}
        actions={actions}
        follow={follow}
      >
        {phase === 'ready' && messages.length === 0 ? (
          <EmptyChat
            name={boot.user === undefined ? '' : displayNameOf(boot.user)}
            onPrompt={useExample}
            models={modelsState.kind === 'ready' ? modelsState.answer : undefined}
          />
        ) : null}
        <ConversationPhase state={state} onRestore={() => chat.restore()} />
      </MessageList>
      <div className="shrink-0 overflow-y-hidden pt-1 pb-3 [scrollbar-gutter:stable]">
        <div className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-4">
          <KeptNotice failure={phase === 'ready' ? state.failure : undefined} />
          <ReplacedNotice
            replaced={state.replaced}
            shown={messages.length}
            onUndo={() => endReplacing(chat.undo)}
            onDismiss={() => endReplacing(chat.dismissUndo)}
          />
          <ModelsNotice state={modelsState} model={model} onRefresh={models.refresh} />
          {phase === 'ready' ? (
            <Composer
              drafts={drafts}
              onSend={send}
              onStop={() => chat.stop()}
              onEditLast={() => setEditedId(lastQuestion(messages)?.id)}
              isAnswering={isBusy}
              obstacle={obstacle}
              attachments={attachments}
              field={field}
            />
          ) : null}
        </div>
      </div>
      {isRetryingWith ? (
        <RetryWith
          model={model}
          onClose={() => setRetryingWith(false)}
          onRetry={(name) => {
            setRetryingWith(false)
            chat.retry(name)
          }}
        />
      ) : null}
    </div>
  )
}
