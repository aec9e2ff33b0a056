import { useLayoutEffect, useState, type RefObject } from 'react'

/** The visible range of a scrolling element, in CSS pixels. */
export interface ScrollWindow {
  readonly top: number
  readonly bottom: number
}

/** Returns the visible range of an element. Changes only after scrolling by `step`. */
export function useScrollWindow(element: RefObject<HTMLElement | null>, step: number): ScrollWindow {
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
