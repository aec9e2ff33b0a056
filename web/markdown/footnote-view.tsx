import type { MouseEvent, ReactNode } from 'react'
import { say } from '../texts/say.ts'

/** A mark that leads to the footnote with this label. */
export function FootnoteMark({ label }: { readonly label: string }): ReactNode {
  return (
    <sup>
      <button
        type="button"
        aria-label={say.markdown.footnote(label)}
        data-mark={label}
        onClick={(event) => focusOn(event, 'footnote', label)}
        className="px-0.5 text-accent hover:underline"
      >
        {label}
      </button>
    </sup>
  )
}

/** A footnote, with a button that leads back to its first mark. */
export function Footnote({ label, children }: { readonly label: string; readonly children: ReactNode }): ReactNode {
  return (
    <div data-footnote={label} tabIndex={-1} className="flex gap-2 text-sm">
      <button
        type="button"
        aria-label={say.markdown.backToMark(label)}
        onClick={(event) => focusOn(event, 'mark', label)}
        className="self-start text-accent hover:underline"
      >
        {label}.
      </button>
      <div className="min-w-0 space-y-2">{children}</div>
    </div>
  )
}

/** Focuses the first such element of the message. The address stays, since its fragment names the view. */
function focusOn(event: MouseEvent<HTMLElement>, name: 'footnote' | 'mark', label: string): void {
  const article = event.currentTarget.closest('article')
  article?.querySelector<HTMLElement>(`[data-${name}="${CSS.escape(label)}"]`)?.focus()
}
