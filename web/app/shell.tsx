import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { deleted } from '../history/deleted.ts'
import { searchRequested } from '../history/search-requested.ts'
import { messageOf } from '../message-of.ts'
import { serviceName, showTitle } from '../service-name.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { announcement } from '../ui/announce.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { focusContent } from '../ui/focus-content.ts'
import { lazily, PartFailed } from '../ui/lazily.tsx'
import { Loading } from '../ui/loading.tsx'
import { Mark } from '../ui/mark.tsx'
import { Notice } from '../ui/notice.tsx'
import { useMedia } from '../ui/use-media.ts'
import { Bar } from './bar.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { FrameContext } from './frame.ts'
import { isManaged } from './manage.ts'
import type { Parts } from './parts.ts'
import { hrefOf, navigate, titleOf, useRoute, type Route } from './route.ts'
import { SessionEnded } from './session-ended.tsx'
import { handleKey, shortKeys, useShortcut } from './shortcuts.ts'
import { KeyHint, SideRow } from './side-row.tsx'
import { lazyView } from './view.tsx'

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
const OtherView = lazyView(async () => (await import('./other-views.tsx')).OtherView)
const HistoryList = lazily(async () => (await chatPage()).HistoryList)
const ManageRow = lazily(async () => (await import('./manage-rows.tsx')).ManageRow, { failed: () => null })
const ManageRows = lazily(async () => (await import('./manage-rows.tsx')).ManageRows)
const UndoBar = lazily(async () => (await chatPage()).UndoBar, { failed: () => null })

const newKeys = 'Ctrl+Shift+O'
const compareKeys = 'Ctrl+Shift+L'

/** Wide enough to show the sidebar beside the view. */
const wideQuery = '(min-width: 64rem)'

/** The page's frame: a sidebar with conversations or the views of Manage, and beside it the view with its bar. */
export function Shell({
  parts,
  enterToken,
}: {
  readonly parts: Parts
  readonly enterToken: (token: string) => Promise<boolean>
}): ReactNode {
  const { isOffline, boot } = useServices()
  const route = useRoute()
  const isWide = useMedia(wideQuery)
  const [isSidebarOpen, setSidebarOpen] = useState(isWide)
  const isSomethingDeleted = useStore(deleted) !== undefined
  const [isSheetOpen, setSheetOpen] = useState(false)
  const isChat = route.view === 'chat'
  const sidebarButton = useRef<HTMLButtonElement>(null)
  const [lastChat, setLastChat] = useState(hrefOf({ view: 'chat' }))
  if (isChat && lastChat !== hrefOf(route)) setLastChat(hrefOf(route))

  const isFirstView = useRef(true)
  useEffect(() => {
    if (isFirstView.current) {
      isFirstView.current = false
      return undefined
    }
    // What had the focus may be gone with its view, or after an answer of the service.
    const timer = setTimeout(() => {
      if (document.activeElement === document.body) focusContent()
    }, 50)
    return () => clearTimeout(timer)
  }, [route])

  function closeSidebar(): void {
    const hadFocus = document.querySelector('#sidebar :focus') !== null
    // The button cannot be focused before, since the sidebar may cover the view.
    flushSync(() => setSidebarOpen(false))
    if (hadFocus) sidebarButton.current?.focus()
  }

  /** The pressed button disappears, so the focus moves to the one that closes the sidebar. */
  const openSidebar = useCallback(() => {
    flushSync(() => setSidebarOpen(true))
    document.querySelector<HTMLElement>('#sidebar button')?.focus()
  }, [])

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
    () => ({ parts, isSidebarOpen, sidebarButton, onSidebar: openSidebar, onShortcuts: () => setSheetOpen(true) }),
    [parts, isSidebarOpen, openSidebar],
  )
  useShortcut(newKeys, say.common.newConversation, () => navigate({ view: 'chat' }))
  useShortcut('Ctrl+K', say.common.searchConversations, () => {
    if (!isChat) navigate({ view: 'chat' })
    setSidebarOpen(true)
    searchRequested.set(true)
  })
  useShortcut(compareKeys, say.common.compareModels, () => navigate({ view: 'compare' }))
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
          <Sidebar isOverlay={!isWide} onClose={closeSidebar}>
            {isManaged(route, boot) ? <ManageArea chat={lastChat} /> : <ChatArea route={route} />}
          </Sidebar>
        ) : null}
        <main
          id="main"
          tabIndex={-1}
          inert={isSidebarOpen && !isWide}
          className="relative min-h-0 min-w-0 flex-1 scroll-pt-13 overflow-y-auto"
        >
          <ErrorBoundary resetKey={hrefOf(route)} fallback={viewFailed}>
            <FrameContext value={frame}>
              <CurrentView route={route} />
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

function CurrentView({ route }: { readonly route: Route }): ReactNode {
  if (route.view === 'chat') return <ChatView {...(route.id === undefined ? {} : { id: route.id })} />
  return <OtherView route={route} />
}

interface SidebarProps {
  readonly isOverlay: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Beside the view on wide windows, else over it. */
function Sidebar({ isOverlay, onClose, children }: SidebarProps): ReactNode {
  return (
    <>
      <div className="absolute inset-0 z-10 bg-[rgb(0_0_0/45%)] lg:hidden" onClick={onClose} />
      <aside
        id="sidebar"
        aria-label={say.app.sidebar}
        className={
          'absolute inset-y-0 left-0 z-10 flex w-[min(19rem,86vw)] flex-col border-e border-line bg-panel ' +
          'lg:static lg:w-66 lg:shrink-0'
        }
        onKeyDown={(event) => {
          if (event.key === 'Escape' && isOverlay) onClose()
        }}
        onClick={({ target }) => {
          // Also closes it on a click at the conversation that is already open.
          if (isOverlay && target instanceof Element && target.closest('a') !== null) onClose()
        }}
      >
        <div className="flex h-13 shrink-0 items-center gap-2 ps-4 pe-2">
          <Mark />
          <p className="min-w-0 flex-1 truncate text-sm font-semibold">
            <bdi>{serviceName}</bdi>
          </p>
          <IconButton label={say.common.hideSidebar} icon="sidebar" onClick={onClose} />
        </div>
        {children}
      </aside>
    </>
  )
}

/** The sidebar of the chat: what can be begun, the conversations, and for owners the way to Manage. */
function ChatArea({ route }: { readonly route: Route }): ReactNode {
  const { boot, synced } = useServices()
  const SyncNotice = synced?.Notice
  return (
    <>
      <div className="px-2">
        <SideRow href={hrefOf({ view: 'chat' })} icon="edit" label={say.app.new} title={say.common.newConversation}>
          <KeyHint keys={shortKeys(newKeys)} />
        </SideRow>
      </div>
      {SyncNotice === undefined ? null : <SyncNotice />}
      <nav aria-label={say.app.conversations} className="min-h-0 flex-1">
        <ErrorBoundary fallback={viewFailed}>
          <HistoryList currentId={route.view === 'chat' ? route.id : undefined}>
            <SideRow
              href={hrefOf({ view: 'compare' })}
              icon="columns"
              label={titleOf('compare')}
              isCurrent={route.view === 'compare'}
            >
              <KeyHint keys={shortKeys(compareKeys)} />
            </SideRow>
          </HistoryList>
        </ErrorBoundary>
      </nav>
      {boot.isOwner ? (
        <div className="shrink-0 border-t border-line p-2">
          <ManageRow />
        </div>
      ) : null}
    </>
  )
}

/** The sidebar of Manage. @param chat link to the conversation that was shown last */
function ManageArea({ chat }: { readonly chat: string }): ReactNode {
  return (
    <>
      <div className="px-2">
        <SideRow href={chat} icon="back" label={say.app.backToChat} />
      </div>
      <ManageRows />
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
