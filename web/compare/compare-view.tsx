import { useCallback, useEffect, useId, useRef, useState, type ReactNode } from 'react'
import { Bar } from '../app/bar.tsx'
import { useShortcut } from '../app/shortcuts.ts'
import type { ChatController } from '../chat/chat-controller.ts'
import { openChats } from '../chat/chats.ts'
import { Composer } from '../chat/composer.tsx'
import { SettingsDialog } from '../chat/conversation-header.tsx'
import { KeptNotice } from '../chat/conversation-notices.tsx'
import { ModelsNotice } from '../chat/models-notice.tsx'
import { useAttachments } from '../chat/use-attachments.ts'
import { useDraft } from '../chat/use-draft.ts'
import { useDrop } from '../chat/use-drop.ts'
import { useEscape } from '../chat/use-escape.ts'
import { useModel } from '../chat/use-model.ts'
import type { HistoryStore } from '../history/conversation.ts'
import { openModelPicker } from '../models/picker-registry.ts'
import { recentModels } from '../models/recent-models.ts'
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
  noSettings,
  openComparison,
  type Comparison,
} from './comparison.ts'
import { Figures } from './figures.tsx'
import { firstModels } from './first-models.ts'
import { useComparisonAnnouncements, useOverview } from './use-overview.ts'

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
  const { boot, models } = useServices()
  const { state: modelsState } = useModel(undefined)
  const columns = useStore(comparison.columns)
  const overview = useOverview(columns)
  const drafts = useDraft(history, 'compare', boot.user?.id ?? '')
  const attachments = useAttachments(drafts)
  const isDropOver = useDrop(true, attachments.add)
  const isWide = useMedia(wideQuery)
  const [chosenId, setChosenId] = useState<string>()
  const [isSettingsOpen, setSettingsOpen] = useState(false)
  const [added, setAdded] = useState(0)
  const field = useRef<HTMLTextAreaElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const panelId = useId()
  const isBusy = overview.some(({ status }) => status === 'streaming')
  const isStarted = overview.some(({ status }) => status !== 'empty')
  const settings = overview[0]?.settings ?? noSettings
  const canSend = overview.some(({ settings }) => settings.model !== undefined)
  const shown = columns.find(({ id }) => id === chosenId) ?? columns[0]
  const openSettings = useCallback(() => setSettingsOpen(true), [])

  useComparisonAnnouncements(overview)
  useEscape(isBusy, () => comparison.stop())
  useShortcut('Ctrl+.', say.compare.settings, openSettings)
  useShortcut('Ctrl+/', say.common.chooseModel, () => {
    const sections = [...(box.current?.querySelectorAll('section') ?? [])]
    const section = sections.find((each) => each.contains(document.activeElement)) ?? sections[0]
    section?.querySelector<HTMLElement>('[aria-haspopup="dialog"]')?.click()
  })
  // The picker of the added column was registered last.
  useEffect(() => {
    if (added > 0) openModelPicker()
  }, [added])

  function send(): void {
    const draft = drafts.current()
    drafts.clear()
    comparison.send(draft)
  }

  function add(): void {
    comparison.add()
    setChosenId(comparison.columns.get().at(-1)?.id)
    setAdded((count) => count + 1)
  }

  function remove(column: ChatController): void {
    comparison.remove(column)
    announce(say.compare.removed)
    focusContent()
  }

  function restart(): void {
    comparison.restart()
    announce(say.compare.newNow)
    focusContent()
  }

  function catchUp(column: ChatController): (() => void) | undefined {
    const question = lastQuestionOf(columns)
    const { model } = conversationOf(column).settings
    return question === undefined || model === undefined ? undefined : () => column.send(question, model)
  }

  return (
    <div className={`flex h-full flex-col ${isDropOver ? 'bg-hover' : ''}`}>
      <Bar>
        <h1 className="min-w-0 flex-1 truncate px-2 text-sm font-medium">{say.common.compareModels}</h1>
        <Button
          variant="quiet"
          icon="plus"
          disabled={columns.length >= columnsMax}
          title={columns.length < columnsMax ? undefined : say.compare.atMost(formatCount(columnsMax))}
          onClick={add}
        >
          <span className="max-sm:sr-only">{say.compare.addModel}</span>
        </Button>
        <Button variant="quiet" icon="edit" disabled={!isStarted} onClick={restart}>
          <span className="max-sm:sr-only">{say.compare.newComparison}</span>
        </Button>
        <IconButton label={say.compare.settings} icon="sliders" onClick={openSettings} />
      </Bar>
      {isWide ? null : <ColumnTabs columns={overview} shownId={shown?.id} panelId={panelId} onShow={setChosenId} />}
      <div
        ref={box}
        id={panelId}
        {...(isWide ? {} : { role: 'tabpanel', 'aria-label': say.common.model })}
        className="flex min-h-0 flex-1 divide-x divide-line overflow-x-auto"
      >
        {columns.map((column, index) =>
          isWide || column === shown ? (
            <CompareColumn
              key={column.id}
              column={column}
              place={index + 1}
              onCatchUp={isStarted ? catchUp(column) : undefined}
              onRemove={columns.length > columnsMin ? () => remove(column) : undefined}
              onSettings={openSettings}
            />
          ) : null,
        )}
      </div>
      <div className="shrink-0 overflow-y-hidden border-t border-line pt-1 pb-3">
        {isStarted ? <Figures columns={columns} /> : null}
        <div className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-4 pt-1">
          <ModelsNotice state={modelsState} model={undefined} onRefresh={models.refresh} />
          <KeptNotice keptMs={boot.contentKeptMs} />
          <Composer
            drafts={drafts}
            onSend={send}
            onStop={() => comparison.stop()}
            onEditLast={() => undefined}
            isAnswering={isBusy}
            blockedReason={canSend ? undefined : say.compare.chooseOne}
            attachments={attachments}
            field={field}
            onSettings={(changes) => comparison.changeSettings({ ...settings, ...changes })}
          />
        </div>
      </div>
      <SettingsDialog
        title={say.compare.settings}
        settings={settings}
        onSettings={comparison.changeSettings}
        isOpen={isSettingsOpen}
        onClose={() => setSettingsOpen(false)}
      />
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
  { client, history, openHistory }: Pick<Services, 'client' | 'history' | 'openHistory'>,
  models: readonly (string | undefined)[],
): Promise<OpenComparison> {
  async function open(): Promise<OpenComparison> {
    const own = await openHistory('compare')
    const comparison = await openComparison({ history: own, chats: openChats({ client, history: own }), models })
    return { comparison, history: own }
  }

  const found = known.get(history) ?? open()
  known.set(history, found)
  return found
}
