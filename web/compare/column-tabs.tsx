import { useRef, type KeyboardEvent, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import type { ColumnOverview } from './use-overview.ts'

export interface ColumnTabsProps {
  readonly columns: readonly ColumnOverview[]
  readonly shownId: string | undefined
  /** Id of the element of the shown column. */
  readonly panelId: string
  readonly onShow: (id: string) => void
}

/** Tabs that choose the shown column (WAI-ARIA APG): arrow keys, Home, End. */
export function ColumnTabs({ columns, shownId, panelId, onShow }: ColumnTabsProps): ReactNode {
  const box = useRef<HTMLDivElement>(null)

  function onKeyDown(event: KeyboardEvent): void {
    const at = columns.findIndex(({ id }) => id === shownId)
    const next = columns.at(placeAfter(event.key, at, columns.length) ?? at)
    if (next === undefined || next.id === shownId) return
    event.preventDefault()
    onShow(next.id)
    box.current?.querySelectorAll<HTMLElement>('[role="tab"]')[columns.indexOf(next)]?.focus()
  }

  return (
    <div
      ref={box}
      role="tablist"
      aria-label={say.common.models}
      className="flex shrink-0 overflow-x-auto border-b border-line"
      onKeyDown={onKeyDown}
    >
      {columns.map(({ id, settings, status }, index) => {
        const isShown = id === shownId
        return (
          <button
            key={id}
            type="button"
            role="tab"
            aria-selected={isShown}
            aria-controls={isShown ? panelId : undefined}
            tabIndex={isShown ? 0 : -1}
            onClick={() => onShow(id)}
            className={
              'flex min-h-11 min-w-24 flex-1 items-center justify-center gap-1.5 border-b-2 px-2 text-sm ' +
              (isShown ? 'border-accent font-medium' : 'border-transparent text-muted')
            }
          >
            <span className="truncate">{settings.model ?? say.compare.modelMissing(formatCount(index + 1))}</span>
            {status === 'streaming' ? (
              <span className="size-2 shrink-0 animate-pulse rounded-full bg-accent">
                <span className="sr-only">{say.compare.answersNow}</span>
              </span>
            ) : null}
          </button>
        )
      })}
    </div>
  )
}

function placeAfter(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowRight':
      return (at + 1) % count
    case 'ArrowLeft':
      return (at + count - 1) % count
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return undefined
  }
}
