import type { ReactNode } from 'react'
import type { TextRange } from './find-words.ts'

/** A text with a highlighted range. */
export function HighlightedText({
  text,
  place,
}: {
  readonly text: string
  readonly place: TextRange | undefined
}): ReactNode {
  if (place === undefined) return text
  return (
    <>
      {text.slice(0, place.start)}
      <mark className="rounded-sm bg-warn-soft font-semibold text-ink">{text.slice(place.start, place.end)}</mark>
      {text.slice(place.end)}
    </>
  )
}
