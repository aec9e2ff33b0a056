import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { ProviderEdits, ProvidersAnswer, WantedProviderChange } from '../../src/http/page/page-api.ts'
import { hrefOf } from '../app/route.ts'
import { View } from '../app/view.tsx'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { focusContent } from '../ui/focus-content.ts'
import { formatAgo, formatMs } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { useNow } from '../ui/use-now.ts'
import { AddByHand } from './add-by-hand.tsx'
import { EditProvider } from './edit-provider.tsx'
import { mayTypeKeys } from './provider-form.tsx'
import { ChangeNotice, FaultsNotice, NoFileNotice, type FailedChange } from './provider-notices.tsx'
import { ProviderRow } from './provider-row.tsx'
import type { ProvidersFeed, ProvidersState } from './providers-feed.ts'
import { RemoveProvider } from './remove-provider.tsx'
import type { RowMode } from './row-props.ts'
import { progressOf, testAll, type TestResults } from './test-all.ts'
import { feedOf, useProviders } from './use-providers.ts'
import { useReorder, type Drag } from './use-reorder.ts'

const refreshMs = 5_000

/** The providers in order of failover, with state and figures, and actions for owners. */
export function ProvidersView(): ReactNode {
  const { client, boot, models } = useServices()
  const feed = feedOf(client)
  const state = useProviders(refreshMs)
  const version = state.answer?.version
  // Another file may have other models.
  useEffect(() => {
    if (version !== undefined) void models.renew()
  }, [models, version])
  const stale = <StaleNotice state={state} onRetry={() => void feed.refresh()} />
  if (state.answer !== undefined)
    return (
      <Providers feed={feed} answer={state.answer} isOwner={boot.isOwner}>
        {stale}
      </Providers>
    )
  return (
    <View title={say.views.providers} about={say.providers.about}>
      {stale}
      <Waiting state={state} />
    </View>
  )
}

function Providers({
  feed,
  answer,
  isOwner,
  children,
}: {
  readonly feed: ProvidersFeed
  readonly answer: ProvidersAnswer
  readonly isOwner: boolean
  /** Above the list. */
  readonly children: ReactNode
}): ReactNode {
  const { trouble, tests, clearTests, retry, closeNotice, change, edit, saveKey, test } = useChanges(feed)
  const [removing, setRemoving] = useState<string>()
  const [editing, setEditing] = useState<string>()
  const mayAdd = answer.mayAdd === true
  const mayType = mayAdd && mayTypeKeys(answer.keysFile)
  const mode: RowMode = !isOwner ? 'readonly' : answer.version === undefined ? 'locked' : 'editable'

  const { list, drag, grab } = useReorder(({ from, to }) => {
    const id = answer.providers[from]?.id
    if (id !== undefined) void change({ id, change: 'move', to })
  })

  async function remove(id: string): Promise<void> {
    setRemoving(undefined)
    await change({ id, change: 'remove' })
    // The row that had the focus is gone.
    focusContent()
  }

  async function save(id: string, edits: ProviderEdits, version: string): Promise<string | undefined> {
    const why = await edit(id, edits, version)
    if (why === undefined) setEditing(undefined)
    return why
  }

  return (
    <View
      title={say.views.providers}
      about={say.providers.about}
      actions={isOwner ? <Actions {...{ answer, tests, clearTests }} test={(id) => test(id, false)} /> : null}
    >
      {children}
      {answer.notice === undefined ? null : <FaultsNotice notice={answer.notice} file={answer.file} />}
      {trouble === undefined ? null : (
        <div id="trouble">
          <ChangeNotice {...{ trouble, answer }} onRetry={retry} onClose={closeNotice} />
        </div>
      )}
      <Standing answer={answer} isOwner={isOwner} />
      {answer.providers.length === 0 ? (
        <p className="rounded-xl border border-line bg-panel p-4">{say.providers.none}</p>
      ) : (
        <ol ref={list} role="list" className="rounded-xl border border-line bg-raised">
          {answer.providers.map((provider, index) => (
            <ProviderRow
              key={provider.id}
              {...{ provider, mode }}
              place={index + 1}
              count={answer.providers.length}
              test={tests.get(provider.id)}
              drop={dropAt(drag, index)}
              isDragged={drag?.from === index}
              onGrab={(event) => grab(index, event)}
              onChange={(wanted) => void change(wanted)}
              {...(mayAdd ? { onEdit: () => setEditing(provider.id), onRemove: () => setRemoving(provider.id) } : {})}
              {...(mayType ? { onKey: (key) => void saveKey(provider.id, key) } : {})}
              onTest={() => void test(provider.id)}
            />
          ))}
        </ol>
      )}
      {editing === undefined ? null : (
        <EditProvider
          id={editing}
          save={(edits, version) => save(editing, edits, version)}
          onClose={() => setEditing(undefined)}
        />
      )}
      {removing === undefined ? null : (
        <RemoveProvider id={removing} onRemove={() => void remove(removing)} onClose={() => setRemoving(undefined)} />
      )}
    </View>
  )
}

/** Changes and tests of providers, with what went wrong and what tests found. */
function useChanges(feed: ProvidersFeed) {
  const [trouble, setTrouble] = useState<FailedChange>()
  const [tests, setTests] = useState<TestResults>(new Map())

  /** @returns whether it was made */
  async function change(wanted: WantedProviderChange): Promise<boolean> {
    const outcome = await feed.change(wanted)
    if (outcome.kind === 'done') closeNotice()
    else setTrouble({ ...outcome, wanted })
    announce(outcome.kind === 'done' ? doneWords(wanted, feed.state.get().answer) : say.providers.notMade)
    if (outcome.kind === 'done' && wanted.change === 'edit') forgetTest(wanted.id)
    return outcome.kind === 'done'
  }

  /** The pressed button disappears with the notice, so the focus moves. */
  function closeNotice(): void {
    setTrouble(undefined)
    if (document.querySelector('#trouble :focus') !== null) focusContent()
  }

  /** @returns why it was not saved */
  async function edit(id: string, edits: ProviderEdits, version: string): Promise<string | undefined> {
    const outcome = await feed.change({ id, change: 'edit', edit: edits }, version)
    if (outcome.kind === 'failed') return outcome.error.message
    if (outcome.kind === 'conflict') return outcome.kind
    announce(say.providers.changeDone.changed(id))
    forgetTest(id)
    return undefined
  }

  /** A test says nothing about other settings. */
  function forgetTest(id: string): void {
    setTests((known) => new Map([...known].filter(([tested]) => tested !== id)))
  }

  function clearTests(): void {
    setTests(new Map())
  }

  /** @returns whether it answered */
  async function test(id: string, isAnnounced = true): Promise<boolean> {
    setTests((known) => new Map([...known, [id, 'running']]))
    const result = await feed.test(id)
    setTests((known) => new Map([...known, [id, result]]))
    if (isAnnounced) announce(result.ok ? say.providers.wasAnswered(id, formatMs(result.ms)) : say.providers.failed(id))
    void feed.refresh()
    return result.ok
  }

  async function saveKey(id: string, key: string): Promise<void> {
    if (await change({ id, change: 'edit', edit: { key } })) await test(id)
  }

  function retry(): void {
    if (trouble !== undefined) void change(trouble.wanted)
  }

  return { trouble, tests, clearTests, retry, closeNotice, change, edit, test, saveKey }
}

/** Why the user cannot change the list here. */
function Standing({
  answer: { source, file, mayAdd },
  isOwner,
}: {
  readonly answer: ProvidersAnswer
  readonly isOwner: boolean
}): ReactNode {
  return (
    <>
      {source === 'file' ? null : <NoFileNotice source={source} isOwner={isOwner} mayAdd={mayAdd === true} />}
      {isOwner ? (
        mayAdd === true ? null : (
          <AddByHand source={source} file={file} />
        )
      ) : (
        <Notice kind="info" title={say.providers.readOnly}>
          {say.providers.maintainers}
        </Notice>
      )}
    </>
  )
}

/** The buttons of the bar. */
function Actions({
  answer: { providers, mayAdd },
  ...testing
}: Omit<TestAllProps, 'ids'> & { readonly answer: ProvidersAnswer }): ReactNode {
  return (
    <>
      {providers.length === 0 ? null : (
        <TestAll ids={providers.filter(({ enabled }) => enabled).map(({ id }) => id)} {...testing} />
      )}
      {mayAdd === true ? (
        <ButtonLink variant="primary" icon="plus" isShort href={hrefOf({ view: 'providers', id: 'add' })}>
          {say.providers.add}
        </ButtonLink>
      ) : null}
    </>
  )
}

function dropAt(drag: Drag | undefined, index: number): 'before' | 'after' | undefined {
  if (drag === undefined || drag.to === drag.from || drag.to !== index) return undefined
  return drag.to < drag.from ? 'before' : 'after'
}

interface TestAllProps {
  readonly ids: readonly string[]
  readonly tests: TestResults
  readonly clearTests: () => void
  readonly test: (id: string) => Promise<boolean>
}

/** Tests all providers that are switched on, with progress, which follows later tests of one of them. */
function TestAll({ ids, tests, clearTests, test }: TestAllProps): ReactNode {
  const running = useRef<AbortController>(undefined)
  const [isRunning, setRunning] = useState(false)
  const [hasBegun, setBegun] = useState(false)
  const progress = progressOf(ids, tests)
  useEffect(() => () => running.current?.abort(), [])

  async function begin(): Promise<void> {
    const stopping = (running.current = new AbortController())
    setRunning(true)
    setBegun(true)
    clearTests()
    const { done, failed } = await testAll(ids, test, stopping.signal)
    setRunning(false)
    announce(say.providers.testedAll(done, failed))
  }

  return (
    <>
      {isRunning ? (
        <Button icon="stop" isShort onClick={() => running.current?.abort()}>
          {say.providers.stopTesting}
        </Button>
      ) : (
        <Button
          icon="play"
          isShort
          aria-disabled={ids.length === 0}
          onClick={() => (ids.length === 0 ? undefined : void begin())}
        >
          {say.providers.testAll}
        </Button>
      )}
      {!hasBegun || (!isRunning && progress.done === 0) ? null : (
        <p className="order-first text-sm text-muted tabular-nums">
          {say.providers.tested(progress.done, ids.length)}
          {progress.failed === 0 ? '' : say.providers.testedFailed(progress.failed)}
        </p>
      )}
    </>
  )
}

function doneWords({ id, change }: WantedProviderChange, answer: ProvidersAnswer | undefined): string {
  if (change === 'enable') return say.providers.changeDone.enabled(id)
  if (change === 'disable') return say.providers.changeDone.disabled(id)
  if (change === 'edit') return say.providers.changeDone.changed(id)
  if (change === 'remove') return say.providers.changeDone.removed(id)
  const all = answer?.providers ?? []
  const place = all.findIndex((provider) => provider.id === id) + 1
  return say.providers.changeDone.moved(id, place, all.length)
}

/** Placeholder before the first answer, or the error. */
function Waiting({ state: { error } }: { readonly state: ProvidersState }): ReactNode {
  if (error !== undefined) return null
  return (
    <div role="status" className="flex flex-col gap-3">
      <span className="sr-only">{say.common.loading}</span>
      {[0, 1, 2].map((place) => (
        <div key={place} className="h-36 animate-pulse rounded-xl border border-line bg-panel" />
      ))}
    </div>
  )
}

/** Reports that the data is outdated: its age and the error. */
function StaleNotice({
  state: { answer, time, error },
  onRetry,
}: {
  readonly state: ProvidersState
  readonly onRetry: () => void
}): ReactNode {
  if (error === undefined) return null
  return (
    <Notice
      kind={answer === undefined ? 'error' : 'warn'}
      title={error.message}
      actions={
        <Button icon="retry" onClick={onRetry}>
          {say.common.tryAgain}
        </Button>
      }
    >
      {time === undefined ? null : <StaleWords time={time} />}
    </Notice>
  )
}

function StaleWords({ time }: { readonly time: number }): ReactNode {
  const now = useNow(1_000)
  return say.providers.stale(formatAgo(time, now), refreshMs / 1_000)
}
