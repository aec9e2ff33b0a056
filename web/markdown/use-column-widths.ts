import { useLayoutEffect, useState, type RefObject } from 'react'

const unknown: readonly number[] = []

/** The widths of a table's columns in CSS pixels, kept up to date while they are wanted; none before they are known. */
export function useColumnWidths(table: RefObject<HTMLTableElement | null>, isWanted: boolean): readonly number[] {
  const [widths, setWidths] = useState(unknown)
  useLayoutEffect(() => {
    const element = table.current
    if (!isWanted || element === null) return undefined
    const measure = () =>
      setWidths((before) => {
        const now = widthsOf(element)
        return now.length === before.length && now.every((width, index) => width === before[index]) ? before : now
      })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [table, isWanted])
  return widths
}

function widthsOf(table: HTMLTableElement): readonly number[] {
  return [...(table.rows[0]?.cells ?? [])].map((cell) => cell.getBoundingClientRect().width)
}
