import type { ReactNode } from 'react'
import { useStore } from '../store.ts'
import { announcement } from '../ui/announce.ts'

/** The page's one live region: screen readers read its announcements. */
export function LiveRegion(): ReactNode {
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {useStore(announcement)}
    </div>
  )
}
