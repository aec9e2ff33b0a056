import { useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import type { RequestEntry } from '../../src/observe/request-entry.ts'
import { navigate } from '../app/route.ts'
import { View } from '../app/view.tsx'
import { useServices } from '../services.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { useNow } from '../ui/use-now.ts'
import { SaveButton } from '../usage/save-button.tsx'
import { LiveState, OlderBar, RunningRequests } from './around-list.tsx'
import { filterRequests, isFiltering, noFilters, type RequestFilters } from './filter-requests.ts'
import { HourCharts } from './hour-charts.tsx'
import { HourStats } from './hour-stats.tsx'
import { logQuery } from './log-query.ts'
import { hourFigures, lastHour } from './minutes.ts'
import { RequestFilterBar } from './request-filters.tsx'
import { RequestPage } from './request-page.tsx'
import { newSince, type RequestRow } from './request-rows.ts'
import type { RequestsState } from './requests-feed.ts'
import { RequestsTable } from './requests-table.tsx'
import { useOlder } from './use-older.ts'
import { hrefOfList, useFilters, useHeld, useLogChoices, useRequests } from './use-requests.ts'

const none: readonly RequestRow[] = []
/** Delay after the last filter change, so that announcements do not interrupt typing. */
const announceMs = 600

/**
 * The last requests, live, and the last hour in charts; or one of the requests. The list stays as it is meanwhile.
 *
 * @param id of the request that is shown
 */
export function RequestsView({ id }: { readonly id?: string }): ReactNode {
  const {
    boot: { isOwner, hasUsage, contentKeptMs },
  } = useServices()
  const [filters, setFilters] = useFilters()
  const [opened, setOpened] = useState<RequestEntry>()
  const noteScroll = useScrollKept(id === undefined)
  const live = useRequests()
  const [isPaused, setPaused] = useState(false)
  const { rows, minutes } = useHeld(live, isPaused)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (id !== undefined) heading.current?.focus({ preventScroll: true })
  }, [id])
  return (
    <View
      heading={heading}
      {...(id === undefined
        ? {
            title: say.views.requests,
            actions: <ListActions live={live} filters={filters} isPaused={isPaused} onPause={setPaused} />,
          }
        : { title: say.requests.request, within: { title: say.views.requests, href: hrefOfList(filters) } })}
    >
      {id === undefined ? null : (
        <RequestPage
          id={id}
          known={opened?.id === id ? opened : live.rows?.find(({ request }) => request.id === id)?.request}
        />
      )}
      <div className="flex flex-col gap-4" hidden={id !== undefined}>
        <p className="max-w-184 text-sm text-muted">
          {isOwner ? say.requests.about.all : say.requests.about.mine}
          {hasUsage === true ? say.requests.about.live : say.requests.about.inMemory}{' '}
          {contentKeptMs === undefined ? say.content.isNotKept : null}
        </p>
        <Trouble state={live} />
        {rows === undefined ? (
          <Waiting state={live} />
        ) : (
          <>
            <Hour minutes={minutes} rows={rows} />
            {id === undefined ? <RunningRequests /> : null}
            <RequestList
              live={live.rows ?? none}
              rows={rows}
              filters={filters}
              setFilters={setFilters}
              isHeld={id !== undefined}
              onOpen={(request) => {
                noteScroll()
                setOpened(request)
                navigate({ view: 'requests', id: request.id })
              }}
              onResume={() => setPaused(false)}
            />
          </>
        )}
      </div>
    </View>
  )
}

/** The buttons of the bar: the list as a file, and the live connection. */
function ListActions({
  live,
  filters,
  isPaused,
  onPause,
}: {
  readonly live: RequestsState
  readonly filters: RequestFilters
  readonly isPaused: boolean
  readonly onPause: (isPaused: boolean) => void
}): ReactNode {
  const { boot } = useServices()
  return (
    <>
      <LiveState connection={live.connection} isPaused={isPaused} onPause={onPause} />
      {boot.hasUsage === true ? <SaveButton path={() => `/api/log?${fileQuery(filters)}`} name="requests.csv" /> : null}
    </>
  )
}

function fileQuery(filters: RequestFilters): string {
  const query = logQuery(filters)
  query.set('format', 'csv')
  return query.toString()
}

/**
 * Restores the scroll position and the focus of the list when a request was shown.
 *
 * @returns notes them, to be called before a request is shown
 */
function useScrollKept(isList: boolean): () => void {
  const kept = useRef<{ readonly top: number; readonly focus: Element | null }>(undefined)
  useLayoutEffect(() => {
    if (!isList || kept.current === undefined) return
    const { top, focus } = kept.current
    kept.current = undefined
    document.querySelector('main')?.scrollTo({ top })
    if (focus instanceof HTMLElement) focus.focus({ preventScroll: true })
  }, [isList])
  return () => {
    kept.current = { top: document.querySelector('main')?.scrollTop ?? 0, focus: document.activeElement }
  }
}

/** The beginning of the present minute, Unix milliseconds. */
function useMinute(): number {
  return Math.floor(useNow(5_000) / 60_000) * 60_000
}

function Hour({
  minutes,
  rows,
}: {
  readonly minutes: RequestsState['minutes']
  readonly rows: readonly RequestRow[]
}): ReactNode {
  const minute = Math.max(useMinute(), minutes.at(-1)?.time ?? 0)
  const hour = useMemo(() => lastHour(minutes, minute), [minutes, minute])
  const figures = useMemo(
    () =>
      hourFigures(
        hour,
        rows.map(({ request }) => request),
      ),
    [hour, rows],
  )
  return (
    <>
      <HourStats figures={figures} />
      <HourCharts hour={hour} />
    </>
  )
}

/** The list with its filters. While the person reads, new requests wait behind a button. */
function RequestList({
  live,
  rows,
  filters,
  setFilters,
  isHeld,
  onOpen,
  onResume,
}: {
  readonly live: readonly RequestRow[]
  readonly rows: readonly RequestRow[]
  readonly filters: RequestFilters
  readonly setFilters: (filters: RequestFilters) => void
  /** A request is being read. */
  readonly isHeld: boolean
  readonly onOpen: (request: RequestEntry) => void
  readonly onResume: () => void
}): ReactNode {
  const {
    boot: { hasUsage },
  } = useServices()
  const [isReading, setReading] = useState(false)
  const [hasOlder, setHasOlder] = useState(false)
  const shown = useHeld(rows, isReading || isHeld || hasOlder)
  const choices = useLogChoices()
  const older = useOlder(filters, shown)
  // The last hour goes on while the view is open.
  const minute = useMinute()
  // Requests that leave the memory must not leave the list while older ones follow them.
  if (hasOlder !== older.rows.length > 0) setHasOlder(older.rows.length > 0)
  const remembered = useMemo(() => filterRequests(shown, filters, minute), [shown, filters, minute])
  // Those that were loaded may have left the last hour.
  const found = useMemo(
    () => [...remembered, ...filterRequests(older.rows, filters, minute)],
    [remembered, older.rows, filters, minute],
  )
  const waiting = useMemo(
    () => filterRequests(newSince(live, shown), filters, minute).length,
    [live, shown, filters, minute],
  )
  const top = useRef<HTMLDivElement>(null)
  const all = shown.length + older.rows.length
  const countOfShown = say.requests.count(all)
  const count = isFiltering(filters) ? say.requests.foundOf(formatCount(found.length), countOfShown) : countOfShown
  const announceCount = useEffectEvent(() => announce(count))
  useEffect(() => {
    if (!isFiltering(filters)) return undefined
    const timer = setTimeout(announceCount, announceMs)
    return () => clearTimeout(timer)
  }, [filters])

  /** The pressed button disappears, so the focus moves. */
  function clear(): void {
    setFilters(noFilters)
    top.current?.focus({ preventScroll: true })
  }

  function showWaiting(): void {
    onResume()
    older.clear()
    setReading(false)
    top.current?.focus({ preventScroll: true })
    top.current?.scrollIntoView({ block: 'start' })
  }

  return (
    <section aria-label={say.views.requests} className="flex flex-col gap-3">
      <RequestFilterBar rows={shown} choices={choices} filters={filters} onChange={setFilters} onClear={clear} />
      <div
        ref={top}
        tabIndex={-1}
        className="flex flex-wrap items-baseline justify-between gap-x-4 text-sm text-muted outline-none"
      >
        <p className="tabular-nums">{count}</p>
        <p id="requests-keys" className="pointer-coarse:sr-only">
          {say.requests.keys}
        </p>
      </div>
      {waiting === 0 ? null : (
        <div className="pointer-events-none sticky top-15 z-2 flex h-0 justify-center">
          <Button variant="primary" icon="up" className="pointer-events-auto h-9 shadow-md" onClick={showWaiting}>
            {say.requests.newOnes(waiting)}
          </Button>
        </div>
      )}
      {found.length > 0 ? (
        <RequestsTable
          rows={found}
          hasUsers={[...shown, ...older.rows].some(({ request }) => request.user !== undefined)}
          onOpen={({ request }) => onOpen(request)}
          onReading={setReading}
        />
      ) : (
        <Nothing hasRequests={shown.length > 0 || isFiltering(filters)} onClear={clear} />
      )}
      {hasUsage === true ? (
        <OlderBar older={older} isFiltering={isFiltering(filters)} oldest={choices?.oldest} />
      ) : null}
    </section>
  )
}

function Nothing({ hasRequests, onClear }: { readonly hasRequests: boolean; readonly onClear: () => void }): ReactNode {
  return (
    <div className="flex flex-col items-center gap-3 rounded-xl border border-line bg-panel p-8 text-center">
      {hasRequests ? (
        <>
          <p>{say.requests.noMatch}</p>
          <Button icon="close" onClick={onClear}>
            {say.common.clearFilters}
          </Button>
        </>
      ) : (
        <>
          <p>{say.requests.none}</p>
          <p className="text-sm text-muted">
            {rich(say.requests.noneHint, { path: <code className="font-mono">/v1/chat/completions</code> })}
          </p>
        </>
      )}
    </div>
  )
}

/** Placeholder before the first event. */
function Waiting({ state: { error } }: { readonly state: RequestsState }): ReactNode {
  if (error !== undefined) return null
  return (
    <div role="status" className="flex flex-col gap-4">
      <span className="sr-only">{say.common.loading}</span>
      <div className="h-22 animate-pulse rounded-xl border border-line bg-panel" />
      <div className="h-56 animate-pulse rounded-xl border border-line bg-panel" />
      <div className="h-96 animate-pulse rounded-xl border border-line bg-panel" />
    </div>
  )
}

function Trouble({ state: { error, rows } }: { readonly state: RequestsState }): ReactNode {
  if (error === undefined) return null
  return (
    <Notice kind={rows === undefined ? 'error' : 'warn'} title={error.message}>
      {rows === undefined ? say.requests.retried : say.requests.outdated}
    </Notice>
  )
}
