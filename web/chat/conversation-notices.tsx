import type { ReactNode } from 'react'
import type { Message } from '../history/conversation.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'

/** Reports that the conversation could not be saved, and why. */
export function NotSavedNotice({ failure }: { readonly failure: Error | undefined }): ReactNode {
  return failure === undefined ? null : (
    <Notice kind="warn" title="This conversation is not saved">
      {failure.message}. Copy what you need before you leave.
    </Notice>
  )
}

/** Props of {@link ReplacedNotice}. */
export interface ReplacedNoticeProps {
  /** Messages that undo would restore. */
  readonly replaced: readonly Message[] | undefined
  /** Number of messages shown. */
  readonly shown: number
  readonly onUndo: () => void
  readonly onDismiss: () => void
}

/** Offers undo after messages were replaced or deleted. */
export function ReplacedNotice({ replaced, shown, onUndo, onDismiss }: ReplacedNoticeProps): ReactNode {
  if (replaced === undefined) return null
  const gone = replaced.length - shown
  return (
    <div
      role="status"
      className="flex items-center gap-2 rounded-xl border border-line bg-panel py-1 pr-1 pl-3 text-sm"
    >
      <p className="min-w-0 flex-1">
        {gone > 0 ? `${gone} ${gone === 1 ? 'message is' : 'messages are'} gone.` : 'The earlier answer was replaced.'}
      </p>
      <Button onClick={onUndo}>Undo</Button>
      <IconButton label="Dismiss" icon="close" onClick={onDismiss} />
    </div>
  )
}
