import { useEffect, useId, useLayoutEffect, useMemo, useState, type ReactNode, type RefObject } from 'react'
import { lazily } from '../ui/lazily.tsx'
import type { FolderHeadingProps } from './folder-heading.tsx'
import type { Group } from './groups.ts'
import { HistoryRow, type HistoryRowProps } from './history-row.tsx'
import { placed, rowsBetween, type PlacedGroup, type Sizes } from './list-layout.ts'

const FolderHeading = lazily(async () => (await import('./folder-parts.ts')).FolderHeading)

/** Context shared by all rows. */
export interface RowContext extends Pick<HistoryRowProps, 'onCommand' | 'onRename'> {
  readonly onFolder: FolderHeadingProps['onCommand']
  readonly currentId: string | undefined
  readonly tabStop: string | undefined
  readonly renaming: string | undefined
}

export interface GroupedRowsProps {
  readonly groups: readonly Group[]
  readonly context: RowContext
  /** The scrolling element. */
  readonly container: RefObject<HTMLElement | null>
}

const overscanRows = 6

/** All conversations, in folders and by date. Renders only visible rows, and the one that Tab reaches. */
export function GroupedRows({ groups, context, container }: GroupedRowsProps): ReactNode {
  const [sizes] = useState(currentSizes)
  const places = useMemo(() => placed(groups, sizes), [groups, sizes])
  const count = places.reduce((sum, { heads }) => sum + heads.length, 0)
  const seen = useScrollWindow(container, sizes.row * 4)
  useScrollToShown(context.currentId, places, sizes, container)
  return places.map((group) => (
    <GroupOfRows key={keyOf(group)} group={group} count={count} sizes={sizes} seen={seen} context={context} />
  ))
}

function keyOf({ folder, label }: Group): string {
  return folder === undefined ? label : ` ${folder}`
}

interface GroupOfRowsProps {
  readonly group: PlacedGroup
  readonly count: number
  readonly sizes: Sizes
  readonly seen: ScrollWindow
  readonly context: RowContext
}

function GroupOfRows({ group, count, sizes, seen, context }: GroupOfRowsProps): ReactNode {
  const heading = useId()
  const margin = overscanRows * sizes.row
  const { from, to } = rowsBetween(group, sizes, seen.top - margin, seen.bottom + margin)
  const indexes = Array.from({ length: to - from }, (_, index) => from + index)
  const stop = group.heads.findIndex(({ id }) => id === context.tabStop)
  if (stop >= 0 && stop < from) indexes.unshift(stop)
  if (stop >= to) indexes.push(stop)
  return (
    <section
      aria-labelledby={heading}
      data-folder={group.isPinned ? undefined : (group.folder ?? '')}
      className="rounded-lg data-over:bg-hover"
    >
      {group.folder === undefined ? (
        <h2
          id={heading}
          className="flex items-end px-3 pb-1 text-xs font-medium text-muted"
          style={{ height: sizes.heading }}
        >
          {group.label}
        </h2>
      ) : (
        <div style={{ height: sizes.row }}>
          <FolderHeading
            id={heading}
            name={group.folder}
            count={group.count}
            isOpen={group.heads.length > 0}
            tabStop={context.tabStop}
            height={sizes.row}
            onCommand={context.onFolder}
          />
        </div>
      )}
      <ul
        className={`relative my-0 mr-0 p-0 ${group.folder === undefined ? 'ml-0' : 'ml-6'}`}
        style={{ height: group.heads.length * sizes.row }}
      >
        {indexes.map((index) => {
          const head = group.heads[index]
          return head === undefined ? null : (
            <HistoryRow
              key={head.id}
              head={head}
              place={group.first + index + 1}
              count={count}
              isCurrent={head.id === context.currentId}
              isTabStop={head.id === context.tabStop}
              isBeingRenamed={head.id === context.renaming}
              style={{ top: index * sizes.row, height: sizes.row }}
              onCommand={context.onCommand}
              onRename={context.onRename}
            />
          )
        })}
      </ul>
    </section>
  )
}

/** Scrolls to the shown conversation when it changes and is out of view. */
function useScrollToShown(
  id: string | undefined,
  groups: readonly PlacedGroup[],
  sizes: Sizes,
  container: RefObject<HTMLElement | null>,
): void {
  const group = groups.find(({ heads }) => heads.some((head) => head.id === id))
  const isListed = group !== undefined
  useEffect(() => {
    const { current } = container
    if (group === undefined || current === null) return
    const top = group.top + group.heads.findIndex((head) => head.id === id) * sizes.row
    if (top < current.scrollTop || top + sizes.row > current.scrollTop + current.clientHeight)
      current.scrollTop = top - current.clientHeight / 2
    // Only on a change of the shown one or on mount: changes of the list must not scroll.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [id, isListed])
}

/** Row heights depend on the font size; they are larger for touch. */
function currentSizes(): Sizes {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16
  return { row: rem * (matchMedia('(pointer: coarse)').matches ? 2.75 : 2.25), heading: rem * 2 }
}

/** The visible range of a scrolling element, in CSS pixels. */
interface ScrollWindow {
  readonly top: number
  readonly bottom: number
}

/** Returns the visible range of an element. Changes only after scrolling by `step`. */
function useScrollWindow(element: RefObject<HTMLElement | null>, step: number): ScrollWindow {
  const [seen, setSeen] = useState<ScrollWindow>({ top: 0, bottom: 1_000 })
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return undefined
    function look(): void {
      if (current === null) return
      const top = Math.floor(current.scrollTop / step) * step,
        bottom = Math.ceil((current.scrollTop + current.clientHeight) / step) * step
      setSeen((before) => (before.top === top && before.bottom === bottom ? before : { top, bottom }))
    }
    look()
    current.addEventListener('scroll', look, { passive: true })
    const observer = new ResizeObserver(look)
    observer.observe(current)
    return () => {
      current.removeEventListener('scroll', look)
      observer.disconnect()
    }
  }, [element, step])
  return seen
}
