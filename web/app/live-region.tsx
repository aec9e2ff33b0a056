import type { ReactNode } from 'react'
import { useStore } from '../store.ts'
import { announcement } from '../ui/announce.ts'

/** The one place that is read out when it changes. */
export function LiveRegion(): ReactNode {
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {useStore(announcement)}
    </div>
  )
}
