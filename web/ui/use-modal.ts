import { useEffect, useRef, type PointerEvent, type RefObject, type SyntheticEvent } from 'react'
import { focusContent } from './focus-content.ts'

export interface ModalOptions {
  readonly isOpen: boolean
  readonly onClose: () => void
  /** Focused on opening. Default: the browser's choice. */
  readonly first?: RefObject<HTMLElement | null>
  /** Focused on closing if nothing had the focus before. */
  readonly opener?: RefObject<HTMLElement | null>
}

/** Attributes of a `<dialog>`. */
export interface Modal {
  readonly ref: RefObject<HTMLDialogElement | null>
  readonly onCancel: (event: SyntheticEvent) => void
  readonly onPointerDown: (event: PointerEvent) => void
}

/**
 * Opens a modal `<dialog>`, and asks to close it on Escape and on a press beside it. The focus then returns to the
 * element that had it.
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
      // The current opener is intended, at the time of closing.
      // oxlint-disable-next-line react-hooks/exhaustive-deps
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
