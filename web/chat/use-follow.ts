import { useCallback, useEffect, useRef, useState, type RefObject } from 'react'
import { nextFollowing, type ScrollPosition } from './following.ts'

/** A list that follows its end. */
export interface Follow {
  /** The scrolling element. */
  readonly list: RefObject<HTMLDivElement | null>
  /** The element inside that grows. */
  readonly content: RefObject<HTMLDivElement | null>
  /** Whether the end is visible, within a tolerance. */
  readonly isAtEnd: boolean
  /** Scrolls to the end and follows it. */
  readonly toEnd: () => void
}

/** Keeps the end of a growing list in view until the person scrolls up. @param isOn whether the list has content */
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
    let before = scrollPositionOf(box)
    const onScroll = (): void => {
      const now = scrollPositionOf(box)
      const next = nextFollowing(isFollowing.current, before, now)
      before = now
      isFollowing.current = next
      setAtEnd(next)
    }
    const onResize = (): void => {
      if (isFollowing.current) box.scrollTop = box.scrollHeight
      before = scrollPositionOf(box)
      if (!isFollowing.current) setAtEnd(before.bottom - before.top - before.height < 1)
    }
    const onWheel = (event: WheelEvent): void => {
      if (event.deltaY < 0 && box.scrollTop > 0) isFollowing.current = false
    }
    const observer = new ResizeObserver(onResize)
    observer.observe(inner)
    observer.observe(box)
    box.addEventListener('scroll', onScroll, { passive: true })
    box.addEventListener('wheel', onWheel, { passive: true })
    return () => {
      observer.disconnect()
      box.removeEventListener('scroll', onScroll)
      box.removeEventListener('wheel', onWheel)
    }
  }, [isOn])

  return { list, content, isAtEnd, toEnd }
}

function scrollPositionOf({ scrollTop, clientHeight, scrollHeight }: HTMLElement): ScrollPosition {
  return { top: scrollTop, height: clientHeight, bottom: scrollHeight }
}
