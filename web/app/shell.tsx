import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { deleted } from '../history/deleted.ts'
import { searchRequested } from '../history/search-requested.ts'
import { messageOf } from '../message-of.ts'
import { serviceName, showTitle } from '../service-name.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { announcement } from '../ui/announce.ts'
import { Button, ButtonLink, IconButton } from '../ui/button.tsx'
import { focusContent } from '../ui/focus-content.ts'
import { lazily, PartFailed } from '../ui/lazily.tsx'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { useMedia } from '../ui/use-media.ts'
import { Bar, FrameContext } from './bar.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import type { Parts } from './parts.ts'
import { hrefOf, navigate, titleOf, useRoute, type Route } from './route.ts'
import { SessionEnded } from './session-ended.tsx'
import { handleKey, useShortcut } from './shortcuts.ts'

const placeholder = <Loading />
const chatPage = () => import('../chat/chat-page.ts')
const ChatView = lazily(async () => (await chatPage()).ChatView, {
  placeholder: (
    <>
      <Bar>{null}</Bar>
      <Loading />
    </>
  ),
})
const ShortcutsSheet = lazily(async () => (await import('./shortcuts-sheet.tsx')).ShortcutsSheet)
const OtherView = lazily(async () => (await import('./other-views.tsx')).OtherView, { placeholder })
const HistoryList = lazily(async () => (await chatPage()).HistoryList)
const Views = lazily(async () => (await chatPage()).Views, { failed: () => null })
const UndoBar = lazily(async () => (await chatPage()).UndoBar, { failed: () => null })

/** Wide enough to show the sidebar beside the view. */
const wideQuery = '(min-width: 64rem)'

/** The page's frame: a sidebar with conversations and views, and beside it the view with its bar. */
export function Shell({
  parts,
  enterToken,
}: {
  readonly parts: Parts
  readonly enterToken: (token: string) => Promise<boolean>
}): ReactNode {
  const { isOffline } = useServices()
  const route = useRoute()
  const isWide = useMedia(wideQuery)
  const [isSidebarOpen, setSidebarOpen] = useState(isWide)
  const isSomethingDeleted = useStore(deleted) !== undefined
  const [isSheetOpen, setSheetOpen] = useState(false)
  const isChat = route.view === 'chat'
  const sidebarButton = useRef<HTMLButtonElement>(null)

  function closeSidebar(): void {
    const hadFocus = document.querySelector('#sidebar :focus') !== null
    // The button cannot be focused before, since the sidebar may cover the view.
    flushSync(() => setSidebarOpen(false))
    if (hadFocus) sidebarButton.current?.focus()
  }

  function toggleSidebar(): void {
    if (isSidebarOpen) closeSidebar()
    else setSidebarOpen(true)
  }

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => void handleKey(event)
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  useEffect(() => {
    // The chat view sets its own title.
    if (route.view !== 'chat') showTitle(titleOf(route.view))
    if (!matchMedia(wideQuery).matches) setSidebarOpen(false)
  }, [route])
  // Below this width the sidebar would cover the view; above it there is space for both.
  useEffect(() => setSidebarOpen(isWide), [isWide])
  const frame = useMemo(
    () => ({ parts, isSidebarOpen, sidebarButton, onSidebar: () => setSidebarOpen((isOpen) => !isOpen) }),
    [parts, isSidebarOpen],
  )
  useShortcut('Ctrl+Shift+O', say.common.newConversation, () => navigate({ view: 'chat' }))
  useShortcut('Ctrl+K', say.common.searchConversations, () => {
    if (!isChat) navigate({ view: 'chat' })
    setSidebarOpen(true)
    searchRequested.set(true)
  })
  useShortcut('Ctrl+Shift+L', say.common.compareModels, () => navigate({ view: 'compare' }))
  useShortcut('Ctrl+B', say.app.showOrHideSidebar, toggleSidebar)
  useShortcut('?', say.app.showList, () => setSheetOpen(true))

  return (
    <div className="flex h-full flex-col">
      <a
        href="#main"
        className={
          'sr-only focus:not-sr-only focus:absolute focus:z-10 focus:m-2 focus:rounded-lg focus:bg-raised ' +
          'focus:p-2'
        }
        onClick={(event) => {
          event.preventDefault()
          focusContent()
        }}
      >
        {say.app.skip}
      </a>
      <SessionEnded parts={parts} enterToken={enterToken} />
      {isOffline ? <OfflineNotice /> : null}
      <div className="relative flex min-h-0 flex-1">
        {isSidebarOpen ? (
          <Sidebar
            currentId={isChat ? route.id : undefined}
            isOverlay={!isWide}
            onClose={closeSidebar}
            onShortcuts={() => setSheetOpen(true)}
          />
        ) : null}
        <main
          id="main"
          tabIndex={-1}
          inert={isSidebarOpen && !isWide}
          className="relative min-h-0 min-w-0 flex-1 scroll-pt-13 overflow-y-auto"
        >
          <ErrorBoundary resetKey={hrefOf(route)} fallback={viewFailed}>
            <FrameContext value={frame}>
              <View route={route} />
            </FrameContext>
          </ErrorBoundary>
        </main>
      </div>
      {isSheetOpen ? <ShortcutsSheet isOpen onClose={() => setSheetOpen(false)} /> : null}
      {isSomethingDeleted ? <UndoBar /> : null}
      <LiveRegion />
    </div>
  )
}

function OfflineNotice(): ReactNode {
  return (
    <div className="px-2 pt-2">
      <Notice
        kind="warn"
        title={say.common.cannotBeReached}
        actions={<Button onClick={() => location.reload()}>{say.common.tryAgain}</Button>}
      >
        {say.app.canBeRead}
      </Notice>
    </div>
  )
}

function View({ route }: { readonly route: Route }): ReactNode {
  if (route.view === 'chat') return <ChatView {...(route.id === undefined ? {} : { id: route.id })} />
  return (
    <>
      {route.view === 'compare' ? null : (
        <Bar>
          <ButtonLink href={hrefOf({ view: 'chat' })} variant="quiet">
            {say.app.backToChat}
          </ButtonLink>
        </Bar>
      )}
      <OtherView route={route} />
    </>
  )
}

/** Conversations and views: beside the view on wide windows, else over it. */
function Sidebar({
  currentId,
  isOverlay,
  onClose,
  onShortcuts,
}: {
  readonly currentId: string | undefined
  readonly isOverlay: boolean
  readonly onClose: () => void
  readonly onShortcuts: () => void
}): ReactNode {
  const SyncNotice = useServices().synced?.Notice
  return (
    <>
      <div className="absolute inset-0 z-10 bg-black/45 lg:hidden" onClick={onClose} />
      <aside
        id="sidebar"
        aria-label={say.app.sidebar}
        className={
          'absolute inset-y-0 start-0 z-10 flex w-[min(20rem,85vw)] flex-col border-e border-line bg-panel ' +
          'lg:static lg:w-72 lg:shrink-0'
        }
        onKeyDown={(event) => {
          if (event.key === 'Escape' && isOverlay) onClose()
        }}
        onClick={({ target }) => {
          // Also closes it on a click at the conversation that is already open.
          if (isOverlay && target instanceof Element && target.closest('a') !== null) onClose()
        }}
      >
        <p className="truncate px-3 pt-3 pb-1 font-semibold">
          <bdi>{serviceName}</bdi>
        </p>
        <div className="flex items-center gap-1 p-2">
          <ButtonLink href={hrefOf({ view: 'chat' })} className="flex-1">
            {say.common.newConversation}
          </ButtonLink>
          <IconButton label={say.common.hideSidebar} icon="close" className="lg:hidden" onClick={onClose} />
        </div>
        {SyncNotice === undefined ? null : <SyncNotice />}
        <nav aria-label={say.app.conversations} className="min-h-0 flex-1">
          <ErrorBoundary fallback={viewFailed}>
            <HistoryList currentId={currentId} />
          </ErrorBoundary>
        </nav>
        <Views onShortcuts={onShortcuts} />
      </aside>
    </>
  )
}

function viewFailed(error: unknown, retry: () => void): ReactNode {
  return (
    <PartFailed className="p-6" title={say.app.viewFailed} retry={retry}>
      {messageOf(error)}
    </PartFailed>
  )
}

/** The page's one live region: screen readers read its announcements. */
function LiveRegion(): ReactNode {
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {useStore(announcement)}
    </div>
  )
}
