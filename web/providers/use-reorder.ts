import { useEffect, useRef, useState, type PointerEvent as ReactPointerEvent, type RefObject } from 'react'
import { dropPlace } from './drop-place.ts'

/** A drag of a row. */
export interface Drag {
  /** Place of the dragged row, from 0. */
  readonly from: number
  /** Place that it would get. */
  readonly to: number
}

/** Rows that are dragged to another place. */
export interface Reorder {
  /** The list; its children are the rows. */
  readonly list: RefObject<HTMLOListElement | null>
  readonly drag: Drag | undefined
  /** Begins a drag. */
  readonly grab: (from: number, event: ReactPointerEvent) => void
}

/** Lets rows be dragged with mouse, pen or finger. Escape ends a drag without effect. */
export function useReorder(onMove: (drag: Drag) => void): Reorder {
  const list = useRef<HTMLOListElement>(null)
  const [drag, setDrag] = useState<Drag>()
  const current = useRef<Drag>(undefined)
  const finish = useRef<(() => void) | undefined>(undefined)
  useEffect(() => () => finish.current?.(), [])

  function show(next: Drag | undefined): void {
    current.current = next
    setDrag(next)
  }

  function grab(from: number, event: ReactPointerEvent): void {
    if (event.button !== 0) return
    event.preventDefault()
    finish.current?.()
    show({ from, to: from })
    const { pointerId } = event
    const ending = new AbortController()
    const { signal } = ending

    finish.current = () => {
      ending.abort()
      finish.current = undefined
      show(undefined)
    }
    const on = (type: 'pointermove' | 'pointerup' | 'pointercancel', run: (event: PointerEvent) => void): void =>
      window.addEventListener(type, (each) => (each.pointerId === pointerId ? run(each) : undefined), { signal })
    on('pointermove', ({ clientY }) => {
      const rows = [...(list.current?.children ?? [])].map((row) => row.getBoundingClientRect())
      show({ from, to: dropPlace(rows, from, clientY) })
    })
    on('pointerup', () => {
      const last = current.current
      finish.current?.()
      if (last !== undefined && last.to !== last.from) onMove(last)
    })
    on('pointercancel', () => finish.current?.())
    window.addEventListener(
      'keydown',
      (each) => {
        if (each.key !== 'Escape') return
        each.preventDefault()
        finish.current?.()
      },
      { signal },
    )
  }

  return { list, drag, grab }
}
