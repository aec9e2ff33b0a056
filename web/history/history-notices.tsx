import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { useLate } from '../ui/use-late.ts'
import type { HistoryFault } from './conversation.ts'
import { HistoryOutdated } from './history-error.ts'

/** Says why conversations do not last, and what to do. */
export function FaultNotice({ fault }: { readonly fault: HistoryFault }): ReactNode {
  const isOutdated = fault === 'outdated'
  return (
    <Notice
      kind="warn"
      title={isOutdated ? 'This page is older than another tab' : 'Not kept when this tab is closed'}
      actions={isOutdated ? <Button onClick={() => location.reload()}>Load anew</Button> : undefined}
    >
      {whyAndWhatToDo[fault]}
    </Notice>
  )
}

const whyAndWhatToDo: Readonly<Record<HistoryFault, string>> = {
  unavailable:
    'This browser keeps nothing for the page: a private window, or storage that is blocked. Export what you need.',
  blocked: 'Another tab holds the conversations with an older version of this page. Close it, and they are kept.',
  outdated: 'What was written here since is lost with this tab. Copy it, then load the page anew.',
  full: 'The browser gives no more room. Export and delete conversations, best those with pictures.',
}

/** Says that the list cannot be read. */
export function ReadFailed({ error, again }: { readonly error: Error; readonly again: () => void }): ReactNode {
  if (error instanceof HistoryOutdated) return <FaultNotice fault="outdated" />
  return (
    <Notice kind="error" title="The conversations cannot be read" actions={<Button onClick={again}>Try again</Button>}>
      {error.message}
    </Notice>
  )
}

/** What stands there when there is nothing yet. */
export function NoConversations(): ReactNode {
  return (
    <div className="px-4 py-8 text-center text-sm text-muted">
      <p className="font-medium text-ink">No conversations yet</p>
      <p className="mt-1">Your conversations stay in this browser. The service keeps none.</p>
    </div>
  )
}

/** In the shape of what is to come; nothing at first, since it mostly comes at once. */
export function ListSkeleton(): ReactNode {
  if (!useLate(200)) return null
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
