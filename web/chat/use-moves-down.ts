import { useLayoutEffect, useRef, type RefObject } from 'react'

/** Milliseconds of the way from the middle of an empty conversation to the end of the window. */
const moveMs = 180

/** Moves the message field down, and not at once, when the first message is sent. @returns what moves */
export function useMovesDown(isEmpty: boolean): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null)
  const before = useRef<number>(undefined)
  useLayoutEffect(() => {
    const { current } = box
    if (current === null || (!isEmpty && before.current === undefined)) return
    const { top } = current.getBoundingClientRect()
    if (!isEmpty && before.current !== undefined && !matchMedia('(prefers-reduced-motion: reduce)').matches)
      current.animate([{ translate: `0 ${before.current - top}px` }, { translate: '0 0' }], {
        duration: moveMs,
        easing: 'ease-out',
      })
    before.current = isEmpty ? top : undefined
  })
  return box
}
