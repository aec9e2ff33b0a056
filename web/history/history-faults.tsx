import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import type { HistoryFault } from './conversation.ts'
import { HistoryOutdated } from './history-error.ts'

/** Explains why conversations are not stored, and what to do. */
export function FaultNotice({ fault }: { readonly fault: HistoryFault }): ReactNode {
  const isOutdated = fault === 'outdated'
  return (
    <Notice
      kind="warn"
      title={isOutdated ? 'This page is older than another tab' : 'Lost when this tab is closed'}
      actions={isOutdated ? <Button onClick={() => location.reload()}>Reload the page</Button> : undefined}
    >
      {whyAndWhatToDo[fault]}
    </Notice>
  )
}

const whyAndWhatToDo: Readonly<Record<HistoryFault, string>> = {
  unavailable:
    'This browser stores nothing for the page: it is a private window, or storage is blocked. Export what you need.',
  blocked: 'Another tab has the conversations open with an older version of this page. Close it, and they are saved.',
  outdated: 'What you have written here since is lost with this tab. Copy it, then reload the page.',
  full: 'The browser’s storage is full. Export and delete conversations, best those with pictures.',
}

/** Reports that the list is unreadable. */
export function ReadFailed({ error, retry }: { readonly error: Error; readonly retry: () => void }): ReactNode {
  if (error instanceof HistoryOutdated) return <FaultNotice fault="outdated" />
  return (
    <Notice kind="error" title="The conversations cannot be read" actions={<Button onClick={retry}>Try retry</Button>}>
      {error.message}
    </Notice>
  )
}
