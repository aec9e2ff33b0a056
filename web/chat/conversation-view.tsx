import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react'
import type { AssistantMessage, ChatSettings } from '../history/conversation.ts'
import { foundMessage } from '../history/found-message.ts'
import type { ModelsState } from '../models/models-store.ts'
import { addRecent, recentModels } from '../models/recent-models.ts'
import { showTitle } from '../service-name.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { focusContent } from '../ui/focus-content.ts'
import { useChatColumn } from './chat-column.tsx'
import type { ChatController } from './chat-controller.ts'
import { Composer } from './composer.tsx'
import { lastAnswer, lastQuestion } from './conversation-changes.ts'
import { ConversationHeader } from './conversation-header.tsx'
import { DeletedNotice, KeptNotice, NotSavedNotice } from './conversation-notices.tsx'
import { BelowComposer, EmptyChat } from './empty-chat.tsx'
import { ModelsNotice } from './models-notice.tsx'
import { useEscape } from './use-escape.ts'
import { useMessageField } from './use-message-field.ts'
import { useModel } from './use-model.ts'
import { useMovesDown } from './use-moves-down.ts'

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
  const {
    phase,
    failure,
    undeleted,
    conversation,
    conversation: { title, settings },
  } = useStore(chat.state)
  const { state: modelsState, model } = useModel(settings.model)
  const [isSettingsOpen, setSettingsOpen] = useState(false)
  const openSettings = useCallback(() => setSettingsOpen(true), [])
  const column = useChatColumn(chat, { model, openSettings, copyTexts })
  const { messages, isBusy } = column
  const isEmpty = phase === 'ready' && messages.length === 0
  const dock = useMovesDown(isEmpty)
  const answer = modelsState.kind === 'ready' ? modelsState.answer : undefined
  const messageField = useMessageField(history, isNew ? 'new' : chat.id, phase === 'ready')
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
    addRecent(recentModels(boot.user?.id), model)
    chat.send(messageField.take(), model)
    column.toEnd()
    if (isNew) onStart()
  }

  function thenFocus(end: () => void): void {
    end()
    focusContent()
  }

  function useExample(text: string): void {
    messageField.drafts.change((draft) => ({ ...draft, text }))
    messageField.field.current?.focus()
  }

  return (
    <div
      data-empty={isEmpty || undefined}
      className={`flex h-full flex-col data-empty:overflow-y-auto ${messageField.isDropOver ? 'bg-hover' : ''}`}
    >
      <ConversationHeader
        title={phase === 'ready' || messages.length > 0 ? title : say.chat.conversation}
        model={model}
        settings={settings}
        onModel={chooseModel}
        onSettings={changeSettings}
        isOpen={isSettingsOpen}
        setOpen={setSettingsOpen}
      />
      {column.show(isEmpty ? <EmptyChat user={boot.user} models={answer} /> : null)}
      <div ref={dock} className="shrink-0 overflow-y-hidden pt-1 pb-3 [scrollbar-gutter:stable]">
        <div className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-4">
          <NotSavedNotice failure={phase === 'ready' ? failure : undefined} />
          <DeletedNotice
            isShown={undeleted !== undefined}
            onUndo={() => thenFocus(() => chat.undo())}
            onDismiss={() => thenFocus(() => chat.dismissUndo())}
          />
          <ModelsNotice state={modelsState} model={model} onRefresh={models.refresh} />
          <KeptNotice keptMs={boot.contentKeptMs} />
          {phase === 'ready' ? (
            <Composer
              entry={messageField}
              onSend={send}
              onStop={() => chat.stop()}
              onEditLast={() => column.actions.edit(lastQuestion(messages)?.id)}
              isAnswering={isBusy}
              blockedReason={model === undefined ? noModelReason(modelsState) : undefined}
              model={model}
              onModel={chooseModel}
              onSettings={(changes) => chat.changeSettings({ ...settings, ...changes })}
            />
          ) : null}
        </div>
      </div>
      {isEmpty ? <BelowComposer model={model} models={answer} onPrompt={useExample} /> : null}
    </div>
  )
}

const copyTexts = { opened: say.chat.forked, failed: say.chat.cannotBeForked }

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
