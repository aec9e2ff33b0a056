import { useId, useRef, type ReactNode, type RefObject } from 'react'
import { say } from '../texts/say.ts'
import { IconButton } from './button.tsx'
import { useModal } from './use-modal.ts'

export interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly children: ReactNode
  /** Buttons at the end. */
  readonly footer?: ReactNode
  /** Focused when the dialog opens. Default: the body. */
  readonly first?: RefObject<HTMLElement | null>
  /** Default `md`. */
  readonly size?: 'md' | 'lg'
}

/**
 * A modal dialog, closed by its button, by Escape, or by a click beside it. The focus then returns to the element that
 * had it.
 */
export function Dialog({ title, isOpen, onClose, children, footer, first, size = 'md' }: DialogProps): ReactNode {
  const body = useRef<HTMLDivElement>(null)
  const heading = useId()
  // The browser would focus Close, which comes first. The content matters more.
  const modal = useModal({ isOpen, onClose, first: first ?? body })
  if (!isOpen) return null
  return (
    <dialog
      {...modal}
      aria-labelledby={heading}
      className={
        'max-h-[min(90dvh,60rem)] w-[calc(100vw-1rem)] rounded-xl border border-line bg-panel p-0 text-ink ' +
        `shadow-xl ${size === 'lg' ? 'max-w-3xl' : 'max-w-lg'}`
      }
    >
      <div className="flex max-h-[inherit] flex-col">
        <div className="flex items-center justify-between gap-4 border-b border-line py-2 pr-2 pl-4">
          <h2 id={heading} className="min-w-0 text-base font-semibold [overflow-wrap:anywhere]">
            {title}
          </h2>
          <IconButton label={say.common.close} icon="close" onClick={onClose} />
        </div>
        <div ref={body} className="min-h-0 overflow-y-auto p-4 outline-none" tabIndex={-1}>
          {children}
        </div>
        {footer === undefined ? null : (
          <div className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3">{footer}</div>
        )}
      </div>
    </dialog>
  )
}
