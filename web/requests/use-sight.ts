import { useLayoutEffect, useState } from 'react'
import { visibleRows, type Drawn } from './visible-rows.ts'

/** What of a list is to be drawn, and where a reader is. */
export interface InSight extends Drawn {
  /** Pixels. */
  readonly rowHeight: number
  /** The first row is scrolled away. */
  readonly isScrolled: boolean
}

const rowHeightGuess = 40
/** Pixels of the first row that may be out of sight before it counts as scrolled away. */
const slack = 8

/**
 * Follows what is in sight of a list of rows of one height, whatever scrolls it. @param list holds the rows; those
 * drawn have `data-key`
 */
export function useSight(list: { readonly current: HTMLElement | null }, count: number): InSight {
  const [sight, setSight] = useState<InSight>(() => ({
    first: 0,
    last: Math.min(count, 30),
    rowHeight: rowHeightGuess,
    isScrolled: false,
  }))
  useLayoutEffect(() => {
    const look = (): void =>
      setSight((known) => {
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
  return { ...sight, first: Math.min(sight.first, count), last: Math.min(sight.last, count) }
}

function lookAt(list: HTMLElement, count: number, rowHeightKnown: number): InSight {
  const rowHeight = list.querySelector('[data-key]')?.getBoundingClientRect().height || rowHeightKnown
  const { top } = list.getBoundingClientRect()
  const from = list.closest('main')?.getBoundingClientRect().top ?? 0
  return { ...visibleRows(count, { top, height: innerHeight, rowHeight }), rowHeight, isScrolled: top < from - slack }
}

function isSame(left: InSight, right: InSight): boolean {
  return (
    left.first === right.first &&
    left.last === right.last &&
    left.rowHeight === right.rowHeight &&
    left.isScrolled === right.isScrolled
  )
}
