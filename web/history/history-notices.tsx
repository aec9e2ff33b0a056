import type { ReactNode } from 'react'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { useElapsed } from '../ui/use-elapsed.ts'

/** Shown when there are no conversations. */
export function NoConversations(): ReactNode {
  const { boot } = useServices()
  return (
    <div className="px-4 py-8 text-center text-sm text-muted">
      <p className="font-medium text-ink">{say.history.none}</p>
      {boot.hasHistory ? (
        <p className="mt-1">{say.history.noneThereHint}</p>
      ) : boot.contentKeptMs ? null : (
        <p className="mt-1">{say.history.noneHint}</p>
      )}
    </div>
  )
}

/** Placeholder of the list, shown only if loading is slow. */
export function ListSkeleton(): ReactNode {
  if (!useElapsed(200)) return null
  return (
    <div className="px-3 pt-8" role="status">
      <span className="sr-only">{say.history.loading}</span>
      {[80, 60, 70, 50, 75, 65].map((width) => (
        <div key={width} className="flex h-9 items-center">
          <div className="h-3 animate-pulse rounded bg-hover" style={{ width: `${width}%` }} />
        </div>
      ))}
    </div>
  )
}
