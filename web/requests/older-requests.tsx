import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
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
        <Notice kind="warn" title={say.requests.older}>
          {error}
        </Notice>
      )}
      {isComplete ? null : (
        <Button onClick={load} disabled={isLoading}>
          {isLoading ? say.requests.searching : isFiltering ? say.requests.search : say.requests.hasOlder}
        </Button>
      )}
      <p role="status" className="tabular-nums">
        {isComplete ? endWords(oldest, isFiltering) : reachWords(searchedTo, oldest)}
      </p>
    </div>
  )
}

function endWords(oldest: number | undefined, isFiltering: boolean): string {
  if (oldest === undefined) return say.requests.noOlder
  const moment = formatMoment(oldest)
  return isFiltering ? say.requests.noOlderThatMatch(moment) : say.requests.noOlderOnes(moment)
}

function reachWords(searchedTo: number | undefined, oldest: number | undefined): string {
  if (searchedTo !== undefined) return say.requests.backTo(formatMoment(searchedTo))
  return oldest === undefined ? '' : say.requests.kept(formatMoment(oldest))
}
