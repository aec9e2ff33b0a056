import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { useElapsed } from '../ui/use-elapsed.ts'

/** Time after which a text is shown. */
const textAfterMs = 2_000

/** Placeholder of an answer that has no text yet. */
export function Waiting(): ReactNode {
  const isLong = useElapsed(textAfterMs)
  return (
    <p className="flex min-h-6 items-center gap-2 text-sm text-muted">
      <span aria-hidden="true" className="size-2.5 animate-pulse rounded-full bg-accent" />
      {isLong ? say.chat.waiting : null}
    </p>
  )
}
