import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { displayNameOf } from '../app/display-name.ts'
import type { AssistantMessage, ChatSettings } from '../history/conversation.ts'
import { foundMessage } from '../history/found-message.ts'
import { branchOf, versionPlaces } from '../history/tree.ts'
import type { ModelsState } from '../models/models-store.ts'
import { addRecent, recentModels } from '../models/recent-models.ts'
import { showTitle } from '../service-name.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { focusContent } from '../ui/focus-content.ts'
import { lazily } from '../ui/lazily.tsx'
import type { ChatController } from './chat-controller.ts'
import { Composer } from './composer.tsx'
import { isAnswering, lastAnswer, lastQuestion } from './conversation-changes.ts'
import { ConversationHeader } from './conversation-header.tsx'
import { DeletedNotice, KeptNotice, NotSavedNotice } from './conversation-notices.tsx'
import { ConversationPhase } from './conversation-phase.tsx'
import { EmptyChat } from './empty-chat.tsx'
import { messageActions } from './message-actions.ts'
import { MessageList } from './message-list.tsx'
import { ModelsNotice } from './models-notice.tsx'
import { useAttachments } from './use-attachments.ts'
import { useDraft } from './use-draft.ts'
import { useDrop } from './use-drop.ts'
import { useEscape } from './use-escape.ts'
import { useFollow } from './use-follow.ts'
import { useModel } from './use-model.ts'

const RetryWith = lazily(async () => (await import('./chat-tools.ts')).RetryWith)

export interface ConversationViewProps {
  readonly chat: ChatController
  /** Whether the conversation has no message yet. */
  readonly isNew: boolean
  /** Called when the first message is sent. */
  readonly onStart: () => void
}

/** A conversation: header, messages, composer. */
export function ConversationView({ chat, isNew, onStart }: ConversationViewProps): ReactNode {
  const { boot, history, models } = useServices()
  const state = useStore(chat.state)
  const {
    phase,
    conversation,
    conversation: { title, settings },
  } = state
  const messages = useMemo(() => branchOf(conversation), [conversation])
  const places = useMemo(() => versionPlaces(conversation), [conversation])
  const { state: modelsState, model } = useModel(settings.model)
  const drafts = useDraft(history, isNew ? 'new' : chat.id, boot.user?.id ?? '')
  const attachments = useAttachments(drafts)
  const isDropOver = useDrop(phase === 'ready', attachments.add)
  const follow = useFollow(messages.length > 0)
  const field = useRef<HTMLTextAreaElement>(null)
  const [editedId, setEditedId] = useState<string>()
  const [isRetryingWith, setRetryingWith] = useState(false)
  const [isSettingsOpen, setSettingsOpen] = useState(false)
  const isBusy = isAnswering(conversation)

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
  const changeSettings = useCallback((changed: ChatSettings) => chat.changeSettings(changed), [chat])
  useAnnouncements(lastAnswer(conversation))
  useFoundMessage(chat, phase === 'ready')
  useEscape(isBusy, () => chat.stop())
  useEffect(() => {
    showTitle(title === '' ? say.views.chat : title)
  }, [title])

  function send(): void {
    if (model === undefined) return
    const draft = drafts.current()
    drafts.clear()
    addRecent(recentModels(boot.user?.id), model)
    chat.send(draft, model)
    follow.toEnd()
    if (isNew) onStart()
  }

  function thenFocus(end: () => void): void {
    end()
    focusContent()
  }

  function useExample(text: string): void {
    drafts.change((draft) => ({ ...draft, text }))
    field.current?.focus()
  }

  return (
    <div className={`flex h-full flex-col ${isDropOver ? 'bg-hover' : ''}`}>
      <ConversationHeader
        title={phase === 'ready' || messages.length > 0 ? title : say.chat.conversation}
        model={model}
        settings={settings}
        onModel={chooseModel}
        onSettings={changeSettings}
        isOpen={isSettingsOpen}
        setOpen={setSettingsOpen}
      />
      <MessageList
        messages={messages}
        places={places}
        editedId={editedId}
        isAnsweredElsewhere={state.isAnsweredElsewhere}
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
          <NotSavedNotice failure={phase === 'ready' ? state.failure : undefined} />
          <DeletedNotice
            isShown={state.undeleted !== undefined}
            onUndo={() => thenFocus(() => chat.undo())}
            onDismiss={() => thenFocus(() => chat.dismissUndo())}
          />
          <ModelsNotice state={modelsState} model={model} onRefresh={models.refresh} />
          <KeptNotice keptMs={boot.contentKeptMs} />
          {phase === 'ready' ? (
            <Composer
              drafts={drafts}
              onSend={send}
              onStop={() => chat.stop()}
              onEditLast={() => setEditedId(lastQuestion(messages)?.id)}
              isAnswering={isBusy}
              blockedReason={model === undefined ? noModelReason(modelsState) : undefined}
              attachments={attachments}
              field={field}
              model={model}
              onModel={chooseModel}
              onSettings={(changes) => chat.changeSettings({ ...settings, ...changes })}
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
            actions.retryAs(name)
          }}
        />
      ) : null}
    </div>
  )
}

function noModelReason({ kind }: ModelsState): string {
  return kind === 'loading' ? say.chat.lookForModels : say.chat.noModel
}

/** Announces the start and the end of an answer to screen readers, but not its text. Errors announce themselves. */
function useAnnouncements(answer: AssistantMessage | undefined): void {
  const id = answer?.id,
    status = answer?.status
  const before = useRef<string>(undefined)
  useEffect(() => {
    if (status === 'streaming') announce(say.common.answering)
    else if (id !== undefined && before.current === id) {
      if (status === 'complete') announce(say.chat.answerComplete)
      if (status === 'stopped') announce(say.chat.answerStopped)
      if (status === 'interrupted') announce(say.chat.answerInterrupted)
    }
    before.current = status === 'streaming' ? id : undefined
  }, [id, status])
}

/** Shows the version with the message that a search found. @param isReady whether the conversation is read */
function useFoundMessage(chat: ChatController, isReady: boolean): void {
  const found = useStore(foundMessage)
  useEffect(() => {
    if (!isReady || found?.conversationId !== chat.id) return
    foundMessage.set(undefined)
    chat.revealMessage(found.messageId)
  }, [chat, isReady, found])
}
