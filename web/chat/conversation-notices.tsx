import type { ReactNode } from 'react'
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

/** Props of {@link DeletedNotice}. */
export interface DeletedNoticeProps {
  readonly isShown: boolean
  readonly onUndo: () => void
  readonly onDismiss: () => void
}

/** Offers undo after a message was deleted. */
export function DeletedNotice({ isShown, onUndo, onDismiss }: DeletedNoticeProps): ReactNode {
  if (!isShown) return null
  return (
    <div
      role="status"
      className="flex items-center gap-2 rounded-xl border border-line bg-panel py-1 pr-1 pl-3 text-sm"
    >
      <p className="min-w-0 flex-1">The message is deleted.</p>
      <Button onClick={onUndo}>Undo</Button>
      <IconButton label="Dismiss" icon="close" onClick={onDismiss} />
    </div>
  )
}
