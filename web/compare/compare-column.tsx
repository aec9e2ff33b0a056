import type { ReactNode } from 'react'
import { useChatColumn } from '../chat/chat-column.tsx'
import type { ChatController } from '../chat/chat-controller.ts'
import { NotSavedNotice } from '../chat/conversation-notices.tsx'
import { openCopy } from '../chat/message-actions.ts'
import { ModelPicker } from '../models/model-picker.tsx'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { continued, conversationOf } from './comparison.ts'

export interface CompareColumnProps {
  readonly chat: ChatController
  /** Position from 1. */
  readonly place: number
  /** Asks the question that other columns had; absent without one. */
  readonly onCatchUp: (() => void) | undefined
  /** Absent if it cannot be removed. */
  readonly onRemove: (() => void) | undefined
  readonly onSettings: () => void
}

/** One model of a comparison: its messages as in a conversation. */
export function CompareColumn({ chat, place, onCatchUp, onRemove, onSettings }: CompareColumnProps): ReactNode {
  const { history } = useServices()
  const { model } = useStore(chat.state).conversation.settings
  const column = useChatColumn(chat, { model, openSettings: onSettings, copyTexts })
  const { isBusy, messages, state } = column

  return (
    <section
      aria-label={say.compare.modelAtIs(formatCount(place), model ?? say.common.noneOfThese)}
      className="flex min-h-0 min-w-0 flex-1 flex-col md:min-w-64"
    >
      <div className="flex shrink-0 items-center gap-1 border-b border-line px-2 py-1">
        <div className="flex min-w-0 flex-1">
          <ModelPicker
            model={model}
            onChange={(name) => chat.changeSettings({ ...conversationOf(chat).settings, model: name })}
          />
        </div>
        {isBusy ? <IconButton label={say.compare.stop} icon="stop" onClick={() => chat.stop()} /> : null}
        {messages.length === 0 || isBusy ? null : (
          <IconButton
            label={say.compare.continueAlone}
            icon="chat"
            onClick={() => void openCopy(history, continued(conversationOf(chat), Date.now()), copyTexts)}
          />
        )}
        {onRemove === undefined ? null : <IconButton label={say.compare.removeModel} icon="close" onClick={onRemove} />}
      </div>
      {column.show(
        <>
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
          <NotSavedNotice failure={state.phase === 'ready' ? state.failure : undefined} />
        </>,
      )}
    </section>
  )
}

const copyTexts = { opened: say.compare.continued, failed: say.compare.cannotBeStored }
