import type { ReactNode } from 'react'
import { useElapsed } from '../ui/use-elapsed.ts'

/** Shown when there are no conversations. */
export function NoConversations(): ReactNode {
  return (
    <div className="px-4 py-8 text-center text-sm text-muted">
      <p className="font-medium text-ink">No conversations yet</p>
      <p className="mt-1">Your conversations stay in this browser. The service keeps none.</p>
    </div>
  )
}

/** Placeholder of the list, shown only if loading is slow. */
export function ListSkeleton(): ReactNode {
  if (!useElapsed(200)) return null
  return (
    <div className="px-3 pt-8" role="status">
      <span className="sr-only">Loading the conversations</span>
      {[80, 60, 70, 50, 75, 65].map((width) => (
        <div key={width} className="flex h-9 items-center">
          <div className="h-3 animate-pulse rounded bg-hover" style={{ width: `${width}%` }} />
        </div>
      ))}
    </div>
  )
}
