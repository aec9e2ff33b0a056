import { useMemo, useState, type KeyboardEvent } from 'react'
import { useStore } from '../store.ts'
import { favouritesMax, toggleFavourite } from './favourites.ts'
import type { ModelsState } from './models-store.ts'
import { moved, pickerRows } from './picker-rows.ts'
import type { PickerRow, PickerRows } from './picker-rows.ts'
import { noFilters, providersOf } from './search-models.ts'
import type { ModelFilters } from './search-models.ts'
import type { StoredNames } from './stored-names.ts'

const pageSize = 50

/** What the panel holds and does. */
export interface Picker {
  readonly text: string
  readonly filters: ModelFilters
  readonly providers: readonly string[]
  readonly shown: PickerRows
  readonly rows: readonly PickerRow[]
  /** What Enter would choose. */
  readonly active: { readonly at: number; readonly row: PickerRow } | undefined
  /** What was done last, in words. */
  readonly said: string | undefined
  readonly type: (text: string) => void
  readonly filter: (filters: ModelFilters) => void
  readonly isFavourite: (name: string) => boolean
  readonly toggleFavourite: (row: PickerRow) => void
  readonly toggleExpanded: (row: PickerRow) => void
  readonly scrolled: (list: HTMLElement) => void
  /** Returns whether the key meant something. */
  readonly handleKey: (event: KeyboardEvent<HTMLInputElement>) => boolean
}

/** The state of an open picker. @param model the one in use */
export function usePicker(
  state: ModelsState,
  favourites: StoredNames,
  recent: StoredNames,
  model: string | undefined,
): Picker {
  const models = state.kind === 'ready' ? state.answer.models : none
  const [text, setText] = useState('')
  const [filters, setFilters] = useState(noFilters)
  const [limit, setLimit] = useState(pageSize)
  const [expanded, setExpanded] = useState<string>()
  const [activeName, setActiveName] = useState(model)
  const [said, setSaid] = useState<string>()
  const liked = useStore(favourites)
  // What was chosen last stays in its place while the picker is open.
  const [latest] = useState(() => recent.get())
  const shown = useMemo(
    () => pickerRows(models, { text, filters, favourites: liked, recent: latest }, limit, expanded),
    [models, text, filters, liked, latest, limit, expanded],
  )
  const likedNames = useMemo(() => new Set(liked), [liked])
  const providers = useMemo(() => providersOf(models), [models])
  const { rows } = shown
  const at = Math.max(
      0,
      rows.findIndex(({ name }) => name === activeName),
    ),
    row = rows[at]
  const active = row === undefined ? undefined : { at, row }

  function startOver(): void {
    setActiveName(undefined)
    setExpanded(undefined)
    setLimit(pageSize)
    setSaid(undefined)
  }

  function showMore(): void {
    if (shown.hidden > 0) setLimit(limit + pageSize)
  }

  function toggle(target: PickerRow): void {
    if (target.kind === 'typed') return
    const { name } = target.entry
    setActiveName(target.name)
    setSaid(saidOf(toggleFavourite(favourites, name), name))
  }

  function toggleExpanded(target: PickerRow): void {
    if (target.kind === 'typed') return
    setActiveName(target.entry.name)
    setExpanded(expanded === target.entry.name ? undefined : target.entry.name)
  }

  function handleKey(event: KeyboardEvent<HTMLInputElement>): boolean {
    if (active === undefined) return false
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'd') toggle(active.row)
    else if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false
    else if (
      event.key === 'ArrowRight' &&
      isAtEnd(event.currentTarget) &&
      active.row.kind === 'model' &&
      expanded !== active.row.name
    )
      toggleExpanded(active.row)
    else if (event.key === 'ArrowLeft' && active.row.kind !== 'typed' && expanded === active.row.entry.name)
      toggleExpanded(active.row)
    else {
      const next = moved(event.key, active.at, rows.length)
      if (next === undefined) return false
      if (next === rows.length - 1) showMore()
      setActiveName(rows[next]?.name)
    }
    return true
  }

  return {
    text,
    filters,
    providers,
    shown,
    rows,
    active,
    said,
    toggleFavourite: toggle,
    toggleExpanded,
    handleKey,
    isFavourite: (name) => likedNames.has(name),
    type(next) {
      setText(next)
      startOver()
    },
    filter(next) {
      setFilters(next)
      startOver()
    },
    scrolled({ scrollTop, clientHeight, scrollHeight }) {
      if (scrollHeight - scrollTop - clientHeight < clientHeight) showMore()
    },
  }
}

const none: readonly never[] = []

function isAtEnd({ selectionStart, value }: HTMLInputElement): boolean {
  return selectionStart === value.length
}

function saidOf(toggled: ReturnType<typeof toggleFavourite>, name: string): string {
  switch (toggled) {
    case 'added':
      return `${name} is a favourite now`
    case 'removed':
      return `${name} is no favourite any more`
    case 'full':
      return `There are ${favouritesMax} favourites already: remove one first`
    case 'not-kept':
      return 'This browser keeps nothing for this page, so there are no favourites'
  }
}
