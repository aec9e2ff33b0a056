import { useCallback, useEffect, useRef, useState, type RefObject } from 'react'
import { nextFollowing, type Place } from './following.ts'

/** A list that follows its end. */
export interface Follow {
  /** What is scrolled. */
  readonly list: RefObject<HTMLDivElement | null>
  /** What is in it. */
  readonly content: RefObject<HTMLDivElement | null>
  /** Whether the end can be seen, more or less. */
  readonly isAtEnd: boolean
  /** Goes to the end, and follows it. */
  readonly toEnd: () => void
}

/** Keeps the end of a list in view while it grows, until its reader scrolls up. @param isOn there is something to follow */
export function useFollow(isOn: boolean): Follow {
  const list = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isFollowing = useRef(true)
  const [isAtEnd, setAtEnd] = useState(true)

  const toEnd = useCallback(() => {
    isFollowing.current = true
    setAtEnd(true)
    list.current?.scrollTo({ top: list.current.scrollHeight })
  }, [])

  useEffect(() => {
    const [box, inner] = [list.current, content.current]
    if (!isOn || box === null || inner === null) return undefined
    let before = placeOf(box)
    const look = (): void => {
      const now = placeOf(box)
      const next = nextFollowing(isFollowing.current, before, now)
      before = now
      isFollowing.current = next
      setAtEnd(next)
    }
    const stay = (): void => {
      if (isFollowing.current) box.scrollTop = box.scrollHeight
      before = placeOf(box)
      if (!isFollowing.current) setAtEnd(before.bottom - before.top - before.height < 1)
    }
    const leave = (event: WheelEvent): void => {
      if (event.deltaY < 0 && box.scrollTop > 0) isFollowing.current = false
    }
    const observer = new ResizeObserver(stay)
    observer.observe(inner)
    observer.observe(box)
    box.addEventListener('scroll', look, { passive: true })
    box.addEventListener('wheel', leave, { passive: true })
    return () => {
      observer.disconnect()
      box.removeEventListener('scroll', look)
      box.removeEventListener('wheel', leave)
    }
  }, [isOn])

  return { list, content, isAtEnd, toEnd }
}

function placeOf({ scrollTop, clientHeight, scrollHeight }: HTMLElement): Place {
  return { top: scrollTop, height: clientHeight, bottom: scrollHeight }
}
