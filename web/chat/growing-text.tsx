import { useLayoutEffect, useRef, type ClipboardEvent, type KeyboardEvent, type ReactNode, type RefObject } from 'react'
import { useStore } from '../store.ts'
import { isOverlayOpen } from '../ui/is-overlay-open.ts'
import { enterSends } from './send-key.ts'

export interface GrowingTextProps {
  readonly id: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly onKeyDown?: (event: KeyboardEvent<HTMLTextAreaElement>) => void
  readonly onPaste?: (event: ClipboardEvent<HTMLTextAreaElement>) => void
  readonly placeholder?: string
  /** Focuses the end of the text on mount, unless a menu or a dialog is open. */
  readonly hasFocus?: boolean
  readonly className?: string
  readonly ref?: RefObject<HTMLTextAreaElement | null>
}

const longText = 20_000

/** The direction by the first letter. `dir="auto"` decides by each paragraph: half a minute for a megabyte. */
function directionOf(text: string): 'ltr' | 'rtl' | undefined {
  const [first] = /\p{L}/u.exec(text.slice(0, longText)) ?? []
  if (first === undefined) return undefined
  return /[\p{scx=Hebrew}\p{scx=Arabic}\p{scx=Syriac}\p{scx=Thaana}\p{scx=Nko}]/u.test(first) ? 'rtl' : 'ltr'
}

/** A text field that grows with its content, up to 40 % of the window. */
export function GrowingText({
  id,
  value,
  onChange,
  onKeyDown,
  onPaste,
  placeholder,
  hasFocus = false,
  className = '',
  ref,
}: GrowingTextProps): ReactNode {
  const own = useRef<HTMLTextAreaElement>(null)
  const field = ref ?? own
  useLayoutEffect(() => {
    const { current } = field
    if (current === null) return
    // Laying a long text out to measure it takes seconds, and it is higher than the field anyway.
    if (value.length > longText) {
      current.style.height = '40dvh'
      return
    }
    current.style.height = 'auto'
    current.style.height = `${current.scrollHeight + current.offsetHeight - current.clientHeight}px`
  }, [field, value])
  useLayoutEffect(() => {
    const { current } = field
    if (!hasFocus || current === null || isOverlayOpen()) return
    current.focus()
    current.setSelectionRange(current.value.length, current.value.length)
  }, [field, hasFocus])
  return (
    <textarea
      ref={field}
      id={id}
      rows={1}
      dir={directionOf(value)}
      value={value}
      placeholder={placeholder}
      enterKeyHint={useStore(enterSends) ? 'send' : 'enter'}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={onKeyDown}
      onPaste={onPaste}
      className={`block max-h-[40dvh] w-full resize-none overflow-y-auto text-base ${className}`}
    />
  )
}
