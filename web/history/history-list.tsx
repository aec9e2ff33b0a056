import { useEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from 'react'
import { currentRoute } from '../app/route.ts'
import { shortKeys } from '../app/shortcuts.ts'
import { KeyHint } from '../app/side-row.tsx'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { isComposing } from '../ui/is-composing.ts'
import { lazily } from '../ui/lazily.tsx'
import { Notice } from '../ui/notice.tsx'
import { useNow } from '../ui/use-now.ts'
import type { ConversationHead, SearchHit } from './conversation.ts'
import type { FolderQuestion } from './folder-tools.tsx'
import { closedFolders, folderKey, toggleFolder, type FolderCommand } from './folders.ts'
import { GroupedRows, type RowContext } from './grouped-rows.tsx'
import { groupsOf, type Group } from './groups.ts'
import { followHeads, type HeadsState } from './heads-state.ts'
import { ListSkeleton, NoConversations } from './history-notices.tsx'
import type { RowCommand } from './history-row.tsx'
import { ListMenu } from './list-menu.tsx'
import { rowActions } from './row-actions.ts'
import { searchRequested } from './search-requested.ts'
import { useRowKeys } from './use-row-keys.ts'
import { prepareSearch, sentenceOf, useSearch, type Search } from './use-search.ts'
import { useStable } from './use-stable.ts'

const FoundRows = lazily(async () => (await import('./found-rows.tsx')).FoundRows)
const FolderDialog = lazily(async () => (await import('./folder-tools.tsx')).FolderDialog)
const FaultNotice = lazily(async () => (await import('./list-tools.ts')).FaultNotice)
const ReadFailed = lazily(async () => (await import('./list-tools.ts')).ReadFailed)

export interface HistoryListProps {
  /** Id of the conversation shown. */
  readonly currentId: string | undefined
  /** Below the field of the search. */
  readonly children: ReactNode
}

/** The conversations: search, list and actions. */
export function HistoryList({ currentId, children }: HistoryListProps): ReactNode {
  const { history } = useServices()
  const list = useMemo(() => followHeads(history), [history])
  useEffect(() => list.start(), [list])
  const state = useStore(list.state)
  const [query, setQuery] = useState('')
  const search = useSearch(history, query)
  const [problem, setProblem] = useState<{ readonly what: string; readonly why: string }>()
  const field = useRef<HTMLInputElement>(null)
  const isSearchWanted = useStore(searchRequested)
  useEffect(() => {
    if (!isSearchWanted) return
    searchRequested.set(false)
    field.current?.select()
  }, [isSearchWanted])

  function attempt(what: string, work: () => Promise<void>): void {
    setProblem(undefined)
    work().catch((error: unknown) => setProblem({ what, why: messageOf(error) }))
  }

  const heads = state.kind === 'ready' ? state.heads : []
  return (
    <div className="flex h-full flex-col">
      <div className="px-2 pb-2">
        <div className="flex items-center">
          <SearchField field={field} query={query} onChange={setQuery} onFocus={() => prepareSearch(history)} />
          <ListMenu count={heads.length} attempt={attempt} />
        </div>
        {children}
      </div>
      <div className="flex flex-col gap-2 px-2 not-empty:pb-2">
        {state.kind === 'ready' && state.fault !== undefined ? <FaultNotice fault={state.fault} /> : null}
        {problem === undefined ? null : (
          <Notice
            kind="error"
            title={problem.what}
            actions={<Button onClick={() => setProblem(undefined)}>{say.common.dismiss}</Button>}
          >
            {problem.why}
          </Notice>
        )}
        {state.kind === 'failed' ? <ReadFailed error={state.error} retry={list.refresh} /> : null}
        {search.kind === 'failed' ? (
          <Notice kind="error" title={say.history.searchFailed}>
            {search.error.message}
          </Notice>
        ) : null}
      </div>
      <Rows state={state} search={search} currentId={currentId} field={field} attempt={attempt} />
    </div>
  )
}

interface RowsProps {
  readonly state: HeadsState
  readonly search: Search
  readonly currentId: string | undefined
  readonly field: RefObject<HTMLInputElement | null>
  readonly attempt: (what: string, work: () => Promise<void>) => void
}

/** The scrolling list of conversations or search results. */
function Rows({ state, search, currentId, field, attempt }: RowsProps): ReactNode {
  const { history } = useServices()
  const container = useRef<HTMLDivElement>(null)
  const [renaming, setRenaming] = useState<string>()
  const heads = state.kind === 'ready' ? state.heads : none
  const hits = useMemo(
    () => (search.kind === 'found' ? withCurrentHeads(search.hits, heads) : undefined),
    [search, heads],
  )
  const groups = useGroups(heads)
  const ids = useMemo(() => hits?.map(({ head }) => head.id) ?? groups.flatMap(keysOf), [hits, groups])
  const folders = useMemo(
    () => new Map(groups.flatMap((group) => (group.folder === undefined ? [] : [[folderKey(group.folder), group]]))),
    [groups],
  )
  const [question, setQuestion] = useState<FolderQuestion>()
  const moved = useRef<Moved>(undefined)
  const actions = useMemo(() => rowActions(history, shownId), [history])
  const byId = (id: string): ConversationHead | undefined => heads.find((head) => head.id === id)
  const keys = useRowKeys({
    ids,
    container,
    preferred: currentId,
    onLeave: () => field.current?.focus(),
    onRename: (id) => (folders.has(id) ? ask('rename', id) : setRenaming(id)),
    onDelete: (id) => (folders.has(id) ? ask('delete', id) : command('delete', byId(id))),
    onMove: (id) => command('move', byId(id)),
    onOpen(id, isOpen) {
      const group = folders.get(id)
      if (group?.folder !== undefined && group.heads.length > 0 !== isOpen) toggleFolder(group.folder)
    },
  })

  // A moved row is another element: the focus follows it, or stays at its closed folder.
  useEffect(() => {
    if (moved.current === undefined) return
    const { id, folder, isRenamed } = moved.current
    if (byId(id)?.folder !== folder) return
    moved.current = undefined
    keys.focus(folder !== undefined && (isRenamed || !ids.includes(id)) ? folderKey(folder) : id)
  })

  function ask(kind: 'rename' | 'delete', id: string): void {
    const folder = folders.get(id)?.folder
    if (folder !== undefined) setQuestion({ kind, folder })
  }

  function onFolder(name: FolderCommand, folder: string): void {
    if (name === 'toggle') toggleFolder(folder)
    else setQuestion({ kind: name, folder })
  }

  function move(those: readonly string[], folder: string | undefined): void {
    const id = those.at(-1)
    if (id !== undefined) moved.current = { id, folder, isRenamed: question?.kind === 'rename' }
    attempt(say.folders.cannotMove, async () => {
      await (await import('./folder-tools.tsx')).moveToFolder(history, those, folder)
    })
  }

  const drop = useStable((id: string, folder: string) => {
    const head = byId(id)
    const next = folder === '' ? undefined : folder
    if (head !== undefined && head.folder !== next) move([id], next)
  })
  const hasFolders = folders.size > 0
  useEffect(() => {
    const { current } = container
    if (!hasFolders || current === null) return undefined
    const following = import('./folder-parts.ts').then(
      ({ followDrags }) => followDrags(current, drop),
      () => undefined, // Without it, menus and keys move conversations.
    )
    return () => void following.then((stop) => stop?.())
  }, [hasFolders, drop])

  function command(name: RowCommand, head: ConversationHead | undefined): void {
    if (head === undefined) return
    switch (name) {
      case 'rename':
        return setRenaming(head.id)
      case 'pin':
        return attempt(say.history.cannotPinIt, () => actions.pin(head))
      case 'move':
        return setQuestion({ kind: 'move', head })
      case 'delete':
        return attempt(say.history.cannotDeleteIt, async () => {
          const at = ids.indexOf(head.id)
          await actions.remove(head)
          keys.focus(ids[at + 1] ?? ids[at - 1])
        })
      default:
        return attempt(say.history.cannotExportIt, () => actions[name](head))
    }
  }

  function endRename(title: string | undefined, head: ConversationHead, isLeft: boolean): void {
    setRenaming(undefined)
    if (!isLeft) keys.focus(head.id)
    if (title !== undefined) attempt(say.history.cannotRenameIt, () => actions.rename(head, title))
  }

  const context: RowContext = {
    currentId,
    tabStop: keys.tabStop,
    renaming,
    onCommand: useStable(command),
    onRename: useStable(endRename),
    onFolder,
  }
  return (
    <div
      ref={container}
      className="relative min-h-0 flex-1 overflow-y-auto px-2 pb-2"
      onKeyDown={keys.onKeyDown}
      onFocus={keys.onFocus}
    >
      <RowsBody state={state} search={search} groups={groups} hits={hits} context={context} container={container} />
      {question === undefined ? null : (
        // Keys pressed in a dialog must not reach the list.
        <div className="contents" onKeyDown={(event) => event.stopPropagation()}>
          <FolderDialog question={question} heads={heads} onClose={() => setQuestion(undefined)} onMove={move} />
        </div>
      )}
    </div>
  )
}

/** Groups the list by today's date. */
function useGroups(heads: readonly ConversationHead[]): readonly Group[] {
  const now = useNow(60_000)
  const today = new Date(now).setHours(0, 0, 0, 0)
  const closed = useStore(closedFolders)
  return useMemo(() => groupsOf(heads, new Date(today), closed), [heads, today, closed])
}

/** Keys of the rows of a group, from top to bottom. */
function keysOf({ folder, heads }: Group): readonly string[] {
  return [...(folder === undefined ? [] : [folderKey(folder)]), ...heads.map(({ id }) => id)]
}

/** The last of the moved conversations, until the list shows it in its folder. */
interface Moved {
  readonly id: string
  readonly folder: string | undefined
  /** Its folder got another name. */
  readonly isRenamed: boolean
}

interface RowsBodyProps extends Pick<RowsProps, 'state' | 'search'> {
  readonly groups: readonly Group[]
  readonly hits: readonly SearchHit[] | undefined
  readonly context: RowContext
  readonly container: RefObject<HTMLDivElement | null>
}

function RowsBody({ state, search, groups, hits, context, container }: RowsBodyProps): ReactNode {
  if (state.kind === 'failed') return null
  if (state.kind === 'loading') return <ListSkeleton />
  if (state.heads.length === 0) return <NoConversations />
  if (search.kind !== 'found' || hits === undefined)
    return <GroupedRows groups={groups} context={context} container={container} />
  return (
    <>
      <p className="px-3 py-1 text-xs text-muted">{sentenceOf(hits.length)}</p>
      {hits.length === 0 ? (
        <p className="px-3 py-1 text-sm">{say.history.noMatch}</p>
      ) : (
        <FoundRows query={search.query} hits={hits} context={context} />
      )}
    </>
  )
}

interface SearchFieldProps {
  readonly field: RefObject<HTMLInputElement | null>
  readonly query: string
  readonly onChange: (query: string) => void
  readonly onFocus: () => void
}

function SearchField({ field, query, onChange, onFocus }: SearchFieldProps): ReactNode {
  return (
    <div className="relative min-w-0 flex-1">
      <Icon name="search" className="pointer-events-none absolute inset-y-0 left-2.25 my-auto size-4 text-muted" />
      <input
        ref={field}
        type="search"
        aria-label={say.common.searchConversations}
        placeholder={say.history.search}
        autoComplete="off"
        value={query}
        className={
          'peer h-9 w-full rounded-lg border border-transparent bg-transparent ps-8.75 pe-2 text-sm hover:bg-hover ' +
          'focus:bg-raised focus:border-edge pointer-coarse:h-11 pointer-coarse:text-base ' +
          'placeholder:text-ink not-placeholder-shown:border-edge not-placeholder-shown:bg-raised'
        }
        onChange={({ target }) => onChange(target.value)}
        onFocus={onFocus}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return
          if (event.key === 'Escape' && query !== '') {
            // The first Escape clears the field.
            event.stopPropagation()
            event.preventDefault()
            onChange('')
          }
          if (event.key === 'ArrowDown') {
            event.preventDefault()
            document.querySelector<HTMLElement>('[data-row] [data-stop][tabindex="0"]')?.focus()
          }
        }}
      />
      <span
        className={
          'pointer-events-none absolute inset-y-0 right-2 hidden items-center peer-placeholder-shown:flex ' +
          'peer-focus:hidden'
        }
      >
        <KeyHint keys={shortKeys('Ctrl+K')} />
      </span>
    </div>
  )
}

const none: readonly ConversationHead[] = []

/** Replaces heads by the current ones: some may have been renamed or removed since the search. */
function withCurrentHeads(hits: readonly SearchHit[], heads: readonly ConversationHead[]): readonly SearchHit[] {
  const byId = new Map(heads.map((head) => [head.id, head]))
  return hits.flatMap((hit) => {
    const head = byId.get(hit.head.id)
    return head === undefined ? [] : [{ ...hit, head }]
  })
}

/** Id of the conversation shown at this moment. */
function shownId(): string | undefined {
  const route = currentRoute()
  return route.view === 'chat' ? route.id : undefined
}
