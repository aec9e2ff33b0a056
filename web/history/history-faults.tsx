import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
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
      title={isOutdated ? say.history.outdated : say.history.lost}
      actions={isOutdated ? <Button onClick={() => location.reload()}>{say.common.reloadPage}</Button> : undefined}
    >
      {whyAndWhatToDo[fault]}
    </Notice>
  )
}

const whyAndWhatToDo: Readonly<Record<HistoryFault, string>> = {
  unavailable: say.history.faults.unavailable,
  blocked: say.history.faults.blocked,
  outdated: say.history.faults.outdated,
  full: say.history.faults.full,
}

/** Reports that the list is unreadable. */
export function ReadFailed({ error, retry }: { readonly error: Error; readonly retry: () => void }): ReactNode {
  if (error instanceof HistoryOutdated) return <FaultNotice fault="outdated" />
  return (
    <Notice
      kind="error"
      title={say.history.cannotBeRead}
      actions={<Button onClick={retry}>{say.common.tryAgain}</Button>}
    >
      {error.message}
    </Notice>
  )
}
