import { useEffect, useRef, type PointerEvent, type RefObject, type SyntheticEvent } from 'react'
import { focusContent } from './focus-content.ts'

/** What {@link useModal} needs. */
export interface ModalOptions {
  readonly isOpen: boolean
  readonly onClose: () => void
  /** Gets the focus at first; absent: what the browser chooses. */
  readonly first?: RefObject<HTMLElement | null>
  /** Gets the focus at last, when nothing had it before. */
  readonly opener?: RefObject<HTMLElement | null>
}

/** Attributes of a `<dialog>`. */
export interface Modal {
  readonly ref: RefObject<HTMLDialogElement | null>
  readonly onCancel: (event: SyntheticEvent) => void
  readonly onPointerDown: (event: PointerEvent) => void
}

/**
 * Makes a `<dialog>` hold the focus while it is open, and ask to be closed at Escape and at a press beside it. The
 * focus then goes back where it was.
 */
export function useModal({ isOpen, onClose, first, opener }: ModalOptions): Modal {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const { current } = dialog
    if (!isOpen || current === null) return undefined
    const before = document.activeElement
    if (!current.open) current.showModal()
    first?.current?.focus()
    return () => {
      current.close()
      if (before === null || before === document.body) opener?.current?.focus()
      else if (before instanceof HTMLElement && before.isConnected) before.focus()
      else focusContent()
    }
  }, [isOpen, first, opener])
  return {
    ref: dialog,
    onCancel(event) {
      event.preventDefault()
      onClose()
    },
    onPointerDown(event) {
      if (event.target === event.currentTarget) onClose()
    },
  }
}
