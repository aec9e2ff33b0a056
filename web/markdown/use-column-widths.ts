import { useLayoutEffect, useState, type RefObject } from 'react'

const unknown: readonly number[] = []

/** Returns the column widths of a table in CSS pixels, and keeps them current while wanted. Empty until known. */
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
