import { useMemo, useState, type KeyboardEvent } from 'react'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import { favouritesMax, toggleFavourite } from './favourites.ts'
import { sortModels, storedOrder, type ModelOrder } from './model-order.ts'
import type { ModelsState } from './models-store.ts'
import { nextRow, pickerRows, type PickerRow, type PickerRows } from './picker-rows.ts'
import { noFilters, providersOf, type ModelFilters } from './search-models.ts'
import type { StoredNames } from './stored-names.ts'

const pageSize = 50

/** State and actions of the open picker. */
export interface Picker {
  readonly text: string
  readonly filters: ModelFilters
  readonly providers: readonly string[]
  readonly order: ModelOrder
  readonly shown: PickerRows
  readonly rows: readonly PickerRow[]
  /** Number of models hidden because they do not chat. */
  readonly leftOut: number
  /** The row that Enter selects. */
  readonly active: { readonly at: number; readonly row: PickerRow } | undefined
  /** Outcome of the last action, announced to screen readers. */
  readonly announcement: string | undefined
  readonly type: (text: string) => void
  readonly filter: (filters: ModelFilters) => void
  readonly sort: (order: ModelOrder) => void
  readonly isFavourite: (name: string) => boolean
  readonly toggleFavourite: (row: PickerRow) => void
  readonly toggleExpanded: (row: PickerRow) => void
  readonly scrolled: (list: HTMLElement) => void
  /** Returns whether the key was handled. */
  readonly handleKey: (event: KeyboardEvent<HTMLInputElement>) => boolean
}

/** State of an open picker. @param model the selected model */
export function usePicker(
  state: ModelsState,
  favourites: StoredNames,
  recent: StoredNames,
  model: string | undefined,
): Picker {
  const all = state.kind === 'ready' ? state.answer.models : none
  const [text, setText] = useState('')
  const [filters, setFilters] = useState(noFilters)
  const [order, setOrder] = useState(() => storedOrder().get())
  const [limit, setLimit] = useState(pageSize)
  const [expanded, setExpanded] = useState<string>()
  const [activeName, setActiveName] = useState(model)
  const [announcement, setAnnouncement] = useState<string>()
  const favouriteList = useStore(favourites)
  // The order of recent models is fixed while the picker is open.
  const [recentList] = useState(() => recent.get())
  // A hidden model that was selected by name stays available.
  const offered = useMemo(
    () =>
      all.filter(
        ({ name, isHidden }) => isHidden !== true || favouriteList.includes(name) || recentList.includes(name),
      ),
    [all, favouriteList, recentList],
  )
  const models = useMemo(() => sortModels(offered, order), [offered, order])
  const isByMaker = order === 'maker'
  const shown = useMemo(
    () =>
      pickerRows(models, { text, filters, favourites: favouriteList, recent: recentList, isByMaker }, limit, expanded),
    [models, text, filters, favouriteList, recentList, isByMaker, limit, expanded],
  )
  const favouriteSet = useMemo(() => new Set(favouriteList), [favouriteList])
  const providers = useMemo(() => providersOf(offered), [offered])
  const { rows } = shown
  const at = Math.max(
      0,
      rows.findIndex(({ name }) => name === activeName),
    ),
    row = rows[at]
  const active = row === undefined ? undefined : { at, row }

  function reset(): void {
    setActiveName(undefined)
    setExpanded(undefined)
    setLimit(pageSize)
    setAnnouncement(undefined)
  }

  function showMore(): void {
    if (shown.hidden > 0) setLimit(limit + pageSize)
  }

  function toggle(target: PickerRow): void {
    if (target.kind === 'typed') return
    const { name } = target.entry
    setActiveName(target.name)
    setAnnouncement(announcementOf(toggleFavourite(favourites, name), name))
  }

  function toggleExpanded(target: PickerRow): void {
    if (target.kind === 'typed') return
    setActiveName(target.entry.name)
    setExpanded(expanded === target.entry.name ? undefined : target.entry.name)
  }

  function handleKey(event: KeyboardEvent<HTMLInputElement>): boolean {
    if (active === undefined) return false
    const isCommand = event.ctrlKey || event.metaKey
    if (isCommand && event.key.toLowerCase() === 'd') {
      toggle(active.row)
      return true
    }
    if (isCommand || event.altKey || event.shiftKey) return false
    if (!togglesExpanded(event, active.row, expanded)) return moveTo(nextRow(event.key, active.at, rows.length))
    toggleExpanded(active.row)
    return true
  }

  function moveTo(next: number | undefined): boolean {
    if (next === undefined) return false
    if (next === rows.length - 1) showMore()
    setActiveName(rows[next]?.name)
    return true
  }

  return {
    text,
    filters,
    providers,
    order,
    shown,
    rows,
    active,
    leftOut: all.length - models.length,
    announcement,
    toggleFavourite: toggle,
    toggleExpanded,
    handleKey,
    isFavourite: (name) => favouriteSet.has(name),
    type(next) {
      setText(next)
      reset()
    },
    filter(next) {
      setFilters(next)
      reset()
    },
    sort(next) {
      setOrder(next)
      storedOrder().set(next)
      reset()
    },
    scrolled({ scrollTop, clientHeight, scrollHeight }) {
      if (scrollHeight - scrollTop - clientHeight < clientHeight) showMore()
    },
  }
}

const none: readonly never[] = []

/** ArrowRight at the end of the text expands a model; ArrowLeft collapses it, also on one of its pins. */
function togglesExpanded(
  { key, currentTarget }: KeyboardEvent<HTMLInputElement>,
  row: PickerRow,
  expanded: string | undefined,
): boolean {
  if (key === 'ArrowRight') return isCaretAtEnd(currentTarget) && row.kind === 'model' && expanded !== row.name
  return key === 'ArrowLeft' && row.kind !== 'typed' && expanded === row.entry.name
}

function isCaretAtEnd({ selectionStart, value }: HTMLInputElement): boolean {
  return selectionStart === value.length
}

function announcementOf(toggled: ReturnType<typeof toggleFavourite>, name: string): string {
  switch (toggled) {
    case 'added':
      return say.models.favouriteNow(name)
    case 'removed':
      return say.models.favouriteNoMore(name)
    case 'full':
      return say.models.favouriteFull(formatCount(favouritesMax))
    case 'not-stored':
      return say.models.favouriteNotStored
  }
}
