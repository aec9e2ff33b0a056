import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { useElapsed } from './use-elapsed.ts'

const shownAfterMs = 300

/** Placeholder of a part of the page that is slow to load. */
export function Loading(): ReactNode {
  return useElapsed(shownAfterMs) ? (
    <p role="status" className="p-6 text-muted">
      {say.common.loading}
    </p>
  ) : null
}
