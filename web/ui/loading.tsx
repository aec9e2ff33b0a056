import type { ReactNode } from 'react'
import { useLate } from './use-late.ts'

const shownAfterMs = 300

/** In the place of a part of the page that takes a while to come. */
export function Loading(): ReactNode {
  return useLate(shownAfterMs) ? (
    <p role="status" className="p-6 text-muted">
      Loading…
    </p>
  ) : null
}
