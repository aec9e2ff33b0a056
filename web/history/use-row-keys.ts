import {
  useLayoutEffect,
  useReducer,
  useRef,
  useState,
  type FocusEvent,
  type KeyboardEvent,
  type RefObject,
} from 'react'

export interface RowKeysOptions {
  /** Row ids from top to bottom. The elements have them as `data-row`, and contain a `data-stop`. */
  readonly ids: readonly string[]
  readonly container: RefObject<HTMLElement | null>
  /** The row that Tab reaches first. Default: the first row. */
  readonly preferred: string | undefined
  /** Called on ArrowUp in the first row. */
  readonly onLeave: () => void
  readonly onRename: (id: string) => void
  readonly onDelete: (id: string) => void
  readonly onMove: (id: string) => void
  /** Opens or closes a folder. */
  readonly onOpen: (id: string, isOpen: boolean) => void
}

/** Keyboard navigation of a list. */
export interface RowKeys {
  /** The row that Tab reaches. It must be rendered. */
  readonly tabStop: string | undefined
  readonly onKeyDown: (event: KeyboardEvent) => void
  readonly onFocus: (event: FocusEvent) => void
  /** Focuses a row as soon as it is rendered; without an id, calls `onLeave`. */
  readonly focus: (id: string | undefined) => void
}

/** Tab reaches one row; arrow keys, Home and End move on, F2 renames, Delete deletes, M moves. */
export function useRowKeys(options: RowKeysOptions): RowKeys {
  const { ids, container, preferred, onLeave, onRename, onDelete, onMove, onOpen } = options
  const [active, setActive] = useState<string>()
  const [, render] = useReducer((count: number) => count + 1, 0)
  const wanted = useRef<string>(undefined)
  const tabStop = [active, preferred].find((id) => id !== undefined && ids.includes(id)) ?? ids[0]

  useLayoutEffect(() => {
    const link =
      wanted.current === undefined
        ? null
        : container.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"] [data-stop]`)
    if (!link) return
    wanted.current = undefined
    link.focus({ preventScroll: true })
    link.scrollIntoView({ block: 'nearest' })
  })

  function focus(id: string | undefined): void {
    if (id === undefined) return onLeave()
    wanted.current = id
    setActive(id)
    // Renders even if it is the active row already.
    render()
  }

  function onKeyDown(event: KeyboardEvent): void {
    const { target } = event
    const id = target instanceof HTMLElement && 'stop' in target.dataset ? rowOf(target) : undefined
    if (id === undefined || event.defaultPrevented || event.altKey || event.ctrlKey || event.shiftKey) return
    const at = ids.indexOf(id)
    const run = event.metaKey
      ? { Backspace: () => onDelete(id) }[event.key]
      : {
          ArrowDown: () => focus(ids[Math.min(at + 1, ids.length - 1)]),
          ArrowUp: () => focus(ids[at - 1]),
          Home: () => focus(ids[0]),
          End: () => focus(ids.at(-1)),
          F2: () => onRename(id),
          Delete: () => onDelete(id),
          m: () => onMove(id),
          ArrowRight: () => onOpen(id, true),
          ArrowLeft: () => onOpen(id, false),
        }[event.key]
    if (run === undefined) return
    event.preventDefault()
    run()
  }

  return { tabStop, focus, onKeyDown, onFocus: ({ target }) => setActive(rowOf(target)) }
}

/** Returns the key of the row around an element. */
export function rowOf(element: Element): string | undefined {
  return element.closest<HTMLElement>('[data-row]')?.dataset['row']
}
