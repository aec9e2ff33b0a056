import { useCallback, useEffect, useId, useRef, useState, type ReactNode, type RefObject } from 'react'
import { Bar } from '../app/bar.tsx'
import { useShortcut } from '../app/shortcuts.ts'
import type { ChatController } from '../chat/chat-controller.ts'
import { noSettings } from '../chat/chat-state.ts'
import { openChats } from '../chat/chats.ts'
import { Composer } from '../chat/composer.tsx'
import { SettingsDialog } from '../chat/conversation-header.tsx'
import { KeptNotice } from '../chat/conversation-notices.tsx'
import { ModelsNotice } from '../chat/models-notice.tsx'
import { useEscape } from '../chat/use-escape.ts'
import { useMessageField, type MessageField } from '../chat/use-message-field.ts'
import { useModel } from '../chat/use-model.ts'
import type { HistoryStore } from '../history/conversation.ts'
import { openModelPicker } from '../models/picker-registry.ts'
import { recentModels } from '../models/recent-models.ts'
import { standingPreset, withStanding } from '../presets/standing-preset.ts'
import { useServices, type Services } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { focusContent } from '../ui/focus-content.ts'
import { formatCount } from '../ui/format.ts'
import { Loading } from '../ui/loading.tsx'
import { useMedia } from '../ui/use-media.ts'
import { ColumnTabs } from './column-tabs.tsx'
import { CompareColumn } from './compare-column.tsx'
import {
  columnsMax,
  columnsMin,
  conversationOf,
  lastQuestionOf,
  openComparison,
  type Comparison,
} from './comparison.ts'
import { Figures } from './figures.tsx'
import { firstModels } from './first-models.ts'
import { useComparisonAnnouncements, useOverview, type ColumnOverview } from './use-overview.ts'

/** Wide enough for two columns. Below, one is shown at a time. */
const wideQuery = '(min-width: 48rem)'

/** The view that asks several models one question. */
export function CompareView(): ReactNode {
  const services = useServices()
  const { boot } = services
  const { state } = useModel(undefined)
  const [opened, setOpened] = useState<OpenComparison>()
  const isLoading = state.kind === 'loading'
  useEffect(() => {
    if (isLoading) return undefined
    let isMounted = true
    void comparisonOf(services, firstModels(services.models.state.get(), recentModels(boot.user?.id).get())).then(
      (found) => {
        if (isMounted) setOpened(found)
      },
    )
    return () => {
      isMounted = false
    }
  }, [isLoading, services, boot.user?.id])
  return opened === undefined ? <Loading /> : <Columns {...opened} />
}

/** The columns, above the message field that asks them all. */
function Columns({ comparison, history }: OpenComparison): ReactNode {
  const columns = useStore(comparison.columns)
  const overview = useOverview(columns)
  const messageField = useMessageField(history, 'compare', true)
  const isWide = useMedia(wideQuery)
  const [chosenId, setChosenId] = useState<string>()
  const [isSettingsOpen, setSettingsOpen] = useState(false)
  const [added, setAdded] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  const panelId = useId()
  const isStarted = overview.some(({ status }) => status !== 'empty')
  const shown = columns.find(({ id }) => id === chosenId) ?? columns[0]
  const openSettings = useCallback(() => setSettingsOpen(true), [])
  useComparisonAnnouncements(overview)
  useShortcuts(box, openSettings)
  // The picker of the added column was registered last.
  useEffect(() => {
    if (added > 0) openModelPicker()
  }, [added])

  function add(): void {
    comparison.add()
    setChosenId(comparison.columns.get().at(-1)?.id)
    setAdded((count) => count + 1)
  }

  function thenSay(change: () => void, said: string): void {
    change()
    announce(said)
    focusContent()
  }

  return (
    <div className={`flex h-full flex-col ${messageField.isDropOver ? 'bg-hover' : ''}`}>
      <CompareBar
        comparison={comparison}
        onAdd={add}
        onRestart={isStarted ? () => thenSay(() => comparison.restart(), say.compare.newNow) : undefined}
        onSettings={openSettings}
      />
      {isWide ? null : <ColumnTabs columns={overview} shownId={shown?.id} panelId={panelId} onShow={setChosenId} />}
      <div
        ref={box}
        id={panelId}
        {...(isWide ? {} : { role: 'tabpanel', 'aria-label': say.common.model })}
        className="flex min-h-0 flex-1 divide-x divide-line overflow-x-auto"
      >
        {columns.map((chat, index) =>
          isWide || chat === shown ? (
            <CompareColumn
              key={chat.id}
              chat={chat}
              place={index + 1}
              onCatchUp={isStarted ? catchUpOf(chat, columns) : undefined}
              onRemove={
                columns.length > columnsMin
                  ? () => thenSay(() => comparison.remove(chat), say.compare.removed)
                  : undefined
              }
              onSettings={openSettings}
            />
          ) : null,
        )}
      </div>
      <CompareFoot {...{ comparison, columns, overview, messageField }} />
      <SettingsDialog
        title={say.compare.settings}
        settings={overview[0]?.settings ?? noSettings}
        onSettings={comparison.changeSettings}
        isOpen={isSettingsOpen}
        onClose={() => setSettingsOpen(false)}
      />
    </div>
  )
}

/** The keys of the view. That of the picker is of the column with the focus. */
function useShortcuts(box: RefObject<HTMLElement | null>, openSettings: () => void): void {
  useShortcut('Ctrl+.', say.compare.settings, openSettings)
  useShortcut('Ctrl+/', say.common.chooseModel, () => {
    const sections = [...(box.current?.querySelectorAll('section') ?? [])]
    const section = sections.find((each) => each.contains(document.activeElement)) ?? sections[0]
    section?.querySelector<HTMLElement>('[aria-haspopup="dialog"]')?.click()
  })
}

/** Asks a column the last question to any of them. Absent without a question or a model. */
function catchUpOf(chat: ChatController, columns: readonly ChatController[]): (() => void) | undefined {
  const question = lastQuestionOf(columns)
  const { model } = conversationOf(chat).settings
  return question === undefined || model === undefined ? undefined : () => chat.send(question, model)
}

interface CompareBarProps {
  readonly comparison: Comparison
  readonly onAdd: () => void
  /** Absent while there are no messages. */
  readonly onRestart: (() => void) | undefined
  readonly onSettings: () => void
}

/** Title of the view, and buttons for all columns. */
function CompareBar({ comparison, onAdd, onRestart, onSettings }: CompareBarProps): ReactNode {
  const isFull = useStore(comparison.columns).length >= columnsMax
  return (
    <Bar>
      <h1 className="min-w-0 flex-1 truncate px-2 text-sm font-medium">{say.common.compareModels}</h1>
      <Button
        variant="quiet"
        icon="plus"
        disabled={isFull}
        title={isFull ? say.compare.atMost(formatCount(columnsMax)) : undefined}
        onClick={onAdd}
      >
        <span className="max-sm:sr-only">{say.compare.addModel}</span>
      </Button>
      <Button variant="quiet" icon="edit" disabled={onRestart === undefined} onClick={onRestart}>
        <span className="max-sm:sr-only">{say.compare.newComparison}</span>
      </Button>
      <IconButton label={say.compare.settings} icon="sliders" onClick={onSettings} />
    </Bar>
  )
}

interface CompareFootProps {
  readonly comparison: Comparison
  readonly columns: readonly ChatController[]
  readonly overview: readonly ColumnOverview[]
  readonly messageField: MessageField
}

/** Below the columns: figures, notices and the message field. */
function CompareFoot({ comparison, columns, overview, messageField }: CompareFootProps): ReactNode {
  const { boot, models } = useServices()
  const { state } = useModel(undefined)
  const isBusy = overview.some(({ status }) => status === 'streaming')
  const settings = overview[0]?.settings ?? noSettings
  const canSend = overview.some(({ settings: { model } }) => model !== undefined)
  useEscape(isBusy, () => comparison.stop())
  return (
    <div className="shrink-0 overflow-y-hidden border-t border-line pt-1 pb-3">
      {overview.some(({ status }) => status !== 'empty') ? <Figures columns={columns} /> : null}
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-4 pt-1">
        <ModelsNotice state={state} model={undefined} onRefresh={models.refresh} />
        <KeptNotice keptMs={boot.contentKeptMs} />
        <Composer
          entry={messageField}
          onSend={() => comparison.send(messageField.take())}
          onStop={() => comparison.stop()}
          onEditLast={() => undefined}
          isAnswering={isBusy}
          blockedReason={canSend ? undefined : say.compare.chooseOne}
          onSettings={(changes) => comparison.changeSettings({ ...settings, ...changes })}
        />
      </div>
    </div>
  )
}

/** An open comparison, with the history that has its columns and its draft. */
interface OpenComparison {
  readonly comparison: Comparison
  readonly history: HistoryStore
}

/** One per user, so answers continue when the view is closed. */
const known = new WeakMap<HistoryStore, Promise<OpenComparison>>()

/**
 * Returns the user's comparison: always the same object. It is stored apart from the conversations, until the user
 * begins a new one.
 *
 * @param models of its columns if none is stored
 */
function comparisonOf(
  { boot, client, history, openHistory }: Pick<Services, 'boot' | 'client' | 'history' | 'openHistory'>,
  models: readonly (string | undefined)[],
): Promise<OpenComparison> {
  async function open(): Promise<OpenComparison> {
    const own = await openHistory('compare')
    const begins = withStanding(noSettings, standingPreset(boot.user?.id).get())
    const comparison = await openComparison({
      history: own,
      chats: openChats({ client, history: own }),
      models,
      begins,
    })
    return { comparison, history: own }
  }

  const found = known.get(history) ?? open()
  known.set(history, found)
  return found
}
