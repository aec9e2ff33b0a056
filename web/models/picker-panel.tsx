import { useEffect, useId, useLayoutEffect, useMemo, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { isComposing } from '../ui/is-composing.ts'
import { favouriteModels } from './favourites.ts'
import { badgesFrom } from './model-facts.ts'
import { PickerFilters } from './picker-filters.tsx'
import { PickerOption } from './picker-option.tsx'
import { sectionsOf, type PickerRow, type PickerRows } from './picker-rows.ts'
import { NoRows, ModelsError } from './picker-states.tsx'
import { recentModels } from './recent-models.ts'
import { useModelFacts } from './use-model-facts.ts'
import { usePicker, type Picker } from './use-picker.ts'

export interface PickerPanelProps {
  readonly model: string | undefined
  readonly onChoose: (name: string) => void
  readonly onClose: () => void
}

/** The open picker: a combobox (WAI-ARIA APG) with filters above its list, and the actions of the active row below. */
export function PickerPanel({ model, onChoose, onClose }: PickerPanelProps): ReactNode {
  const { boot, models: store } = useServices()
  const state = useStore(store.state)
  const favourites = useMemo(() => favouriteModels(boot.user?.id), [boot.user?.id])
  const recent = useMemo(() => recentModels(boot.user?.id), [boot.user?.id])
  const picker = usePicker(state, favourites, recent, model)
  const facts = useModelFacts('reader')
  const badgesOf = useMemo(() => badgesFrom(facts), [facts])
  const listId = useId()
  const { active, rows, shown } = picker

  useEffect(() => void store.refresh(), [store])
  const activeId = active === undefined ? undefined : `${listId}-${active.at}`
  // Only keys, typing and opening scroll to the active row. The pointer does not scroll.
  useLayoutEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' })
  }, [activeId])

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    if (isComposing(event.nativeEvent) || active === undefined) return
    if (event.key === 'Enter') onChoose(active.row.name)
    else if (!picker.handleKey(event)) return
    event.preventDefault()
  }

  function onListClick(event: MouseEvent): void {
    if (!(event.target instanceof Element)) return
    const row = rows[Number(event.target.closest('[data-index]')?.getAttribute('data-index') ?? -1)]
    if (row === undefined) return
    const act = event.target.closest('[data-act]')?.getAttribute('data-act')
    if (act === 'favourite') picker.toggleFavourite(row)
    else if (act === 'expand') picker.toggleExpanded(row)
    else onChoose(row.name)
  }

  return (
    <div className="flex min-h-0 flex-1 flex-col" onMouseDown={keepFocus}>
      <div className="flex items-center gap-2 border-b border-line py-1.5 pr-1.5 pl-4">
        <Icon name="search" className="size-5 text-muted" />
        <input
          role="combobox"
          autoFocus
          aria-label={say.models.search}
          aria-autocomplete="list"
          aria-expanded={rows.length > 0}
          aria-controls={listId}
          {...(activeId === undefined ? {} : { 'aria-activedescendant': activeId })}
          value={picker.text}
          onChange={({ target }) => picker.type(target.value)}
          onKeyDown={onKeyDown}
          placeholder={say.models.search}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          enterKeyHint="done"
          className="min-h-10 min-w-0 flex-1 bg-transparent text-base outline-none"
        />
        <IconButton label={say.common.close} icon="close" onClick={onClose} />
      </div>
      <PickerFilters
        filters={picker.filters}
        onChange={picker.filter}
        providers={picker.providers}
        order={picker.order}
        onSort={picker.sort}
      />
      <ModelsError state={state} onRetry={() => void store.refresh()} />
      {rows.length === 0 ? (
        <NoRows state={state} picker={picker} onLeave={onClose} />
      ) : (
        <div
          id={listId}
          role="listbox"
          aria-label={say.common.models}
          className="min-h-0 flex-1 overflow-y-auto overscroll-contain p-1.5"
          onClick={onListClick}
          onScroll={({ currentTarget }) => picker.scrolled(currentTarget)}
        >
          {sectionsOf(rows).map(({ heading, start, rows: ofSection }) => {
            const options = ofSection.map((row, offset) => (
              <PickerOption
                key={row.name}
                id={`${listId}-${start + offset}`}
                index={start + offset}
                row={row}
                badgesOf={badgesOf}
                isActive={active?.at === start + offset}
                isCurrent={row.name === model}
                isFavourite={row.kind === 'model' && picker.isFavourite(row.name)}
              />
            ))
            if (heading === undefined) return options
            return (
              <div key={heading} role="group" aria-label={heading}>
                <div aria-hidden="true" className="px-2.5 pt-2 pb-1 text-xs font-medium text-muted">
                  {heading}
                </div>
                {options}
              </div>
            )
          })}
        </div>
      )}
      <div
        className={
          'flex min-h-12 flex-wrap items-center gap-x-4 gap-y-1 border-t border-line px-3 py-1.5 text-xs ' +
          'text-muted'
        }
      >
        <p role="status" className="min-w-40 flex-1 py-1">
          {picker.announcement ?? (state.kind === 'ready' ? countOf(shown, picker.leftOut) : '')}
        </p>
        {active === undefined || active.row.kind === 'typed' ? null : <RowActions row={active.row} picker={picker} />}
      </div>
    </div>
  )
}

/** Keeps the focus in the search field, unless another field is pressed. */
function keepFocus(event: MouseEvent): void {
  if (event.target instanceof Element && event.target.closest('input, select') === null) event.preventDefault()
}

/** Actions of the active row, for pointers, touch and Tab. Keys: Ctrl+D and arrow keys. */
function RowActions({
  row,
  picker,
}: {
  readonly row: Exclude<PickerRow, { kind: 'typed' }>
  readonly picker: Picker
}): ReactNode {
  const { name } = row.entry
  const isFavourite = picker.isFavourite(name)
  const isExpanded = row.kind === 'pin' || row.isExpanded
  return (
    <div className="flex items-center gap-1">
      <Button
        variant="quiet"
        className="text-xs"
        aria-pressed={isFavourite}
        aria-keyshortcuts="Control+D"
        onClick={() => picker.toggleFavourite(row)}
      >
        <Icon name="star" className={isFavourite ? 'size-4 fill-current text-warn' : 'size-4'} />
        <span>
          {say.models.favourite}
          <span className="sr-only">: {name}</span>
        </span>
        <Key>{say.models.favouriteKey}</Key>
      </Button>
      <Button variant="quiet" className="text-xs" aria-expanded={isExpanded} onClick={() => picker.toggleExpanded(row)}>
        <Icon name="chevron" className={isExpanded ? 'size-4' : 'size-4 -rotate-90'} />
        <span>
          {say.models.providers}
          <span className="sr-only">{say.models.ofModel(name)}</span>
        </span>
        <Key>→</Key>
      </Button>
    </div>
  )
}

function Key({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <kbd aria-hidden="true" className="rounded border border-line px-1 font-mono text-xs pointer-coarse:hidden">
      {children}
    </kbd>
  )
}

function countOf({ count, hidden }: PickerRows, leftOut: number): string {
  const models = say.models.count(count)
  const all = leftOut === 0 ? models : say.models.notChatting(models, formatCount(leftOut))
  return hidden === 0 ? all : say.models.moreBelow(all, formatCount(hidden))
}
