import type { ReactNode } from 'react'
import type { Place } from './fold.ts'

/** A text in which one place is marked. */
export function MarkedText({ text, place }: { readonly text: string; readonly place: Place | undefined }): ReactNode {
  if (place === undefined) return text
  return (
    <>
      {text.slice(0, place.start)}
      <mark className="rounded-sm bg-warn-soft font-semibold text-ink">{text.slice(place.start, place.end)}</mark>
      {text.slice(place.end)}
    </>
  )
}
