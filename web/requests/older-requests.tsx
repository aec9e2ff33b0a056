import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { formatMoment } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import type { OlderRequests } from './use-older.ts'

/** Below the list: loads older requests, and says how far back they reach. */
export function OlderBar({
  older,
  isFiltering,
  oldest,
}: {
  readonly older: OlderRequests
  readonly isFiltering: boolean
  /** Arrival of the oldest stored request. */
  readonly oldest: number | undefined
}): ReactNode {
  const { isLoading, isComplete, searchedTo, error, load } = older
  return (
    <div className="flex flex-col items-center gap-2 py-2 text-sm text-muted">
      {error === undefined ? null : (
        <Notice kind="warn" title="Older requests cannot be shown now">
          {error}
        </Notice>
      )}
      {isComplete ? null : (
        <Button onClick={load} disabled={isLoading}>
          {isLoading ? 'Searching …' : isFiltering ? 'Search older requests' : 'Older requests'}
        </Button>
      )}
      <p role="status" className="tabular-nums">
        {isComplete
          ? oldest === undefined
            ? 'There are no older requests.'
            : `There are no older ones${isFiltering ? ' that match' : ''}. The oldest is of ${formatMoment(oldest)}.`
          : searchedTo === undefined
            ? oldest === undefined
              ? ''
              : `Requests are kept since ${formatMoment(oldest)}.`
            : `Searched back to ${formatMoment(searchedTo)}.`}
      </p>
    </div>
  )
}
