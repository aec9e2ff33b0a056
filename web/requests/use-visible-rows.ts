import { useLayoutEffect, useState } from 'react'
import { visibleRows, type RenderedRows } from './visible-rows.ts'

/** Rows to render, and the scroll position. */
export interface VisibleRows extends RenderedRows {
  /** Pixels. */
  readonly rowHeight: number
  /** Whether the first row is scrolled away. */
  readonly isScrolled: boolean
}

const rowHeightGuess = 40
/** Pixels that the first row may be scrolled before it counts as away. */
const slack = 8

/**
 * Follows the visible rows of a list with equal row heights, for any scrolling ancestor.
 *
 * @param list contains the rows; rendered ones have `data-key`
 */
export function useVisibleRows(list: { readonly current: HTMLElement | null }, count: number): VisibleRows {
  const [visible, setVisible] = useState<VisibleRows>(() => ({
    first: 0,
    last: Math.min(count, 30),
    rowHeight: rowHeightGuess,
    isScrolled: false,
  }))
  useLayoutEffect(() => {
    const look = (): void =>
      setVisible((known) => {
        const next = list.current === null ? known : lookAt(list.current, count, known.rowHeight)
        return isSame(known, next) ? known : next
      })
    look()
    addEventListener('scroll', look, { capture: true, passive: true })
    addEventListener('resize', look)
    return () => {
      removeEventListener('scroll', look, { capture: true })
      removeEventListener('resize', look)
    }
  }, [list, count])
  return { ...visible, first: Math.min(visible.first, count), last: Math.min(visible.last, count) }
}

function lookAt(list: HTMLElement, count: number, rowHeightKnown: number): VisibleRows {
  const rowHeight = list.querySelector('[data-key]')?.getBoundingClientRect().height || rowHeightKnown
  const { top } = list.getBoundingClientRect()
  // The view scrolls below its bar.
  const from = Math.max(0, list.closest('main')?.querySelector('header')?.getBoundingClientRect().bottom ?? 0)
  return { ...visibleRows(count, { top, height: innerHeight, rowHeight }), rowHeight, isScrolled: top < from - slack }
}

function isSame(left: VisibleRows, right: VisibleRows): boolean {
  return (
    left.first === right.first &&
    left.last === right.last &&
    left.rowHeight === right.rowHeight &&
    left.isScrolled === right.isScrolled
  )
}
