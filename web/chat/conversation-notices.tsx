import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { lazily } from '../ui/lazily.tsx'
import { Notice } from '../ui/notice.tsx'

const ContentNotice = lazily(async () => (await import('./chat-tools.ts')).ContentNotice)

/** Reports that the conversation could not be saved, and why. */
export function NotSavedNotice({ failure }: { readonly failure: Error | undefined }): ReactNode {
  return failure === undefined ? null : (
    <Notice kind="warn" title={say.chat.notSaved}>
      {say.chat.copyWhatYouNeed(failure.message)}
    </Notice>
  )
}

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
      <p className="min-w-0 flex-1">{say.chat.messageDeleted}</p>
      <Button onClick={onUndo}>{say.common.undo}</Button>
      <IconButton label={say.common.dismiss} icon="close" onClick={onDismiss} />
    </div>
  )
}

/** Says that content of the visitor's requests is kept. Nothing if it is not. */
export function KeptNotice({ keptMs = 0 }: { readonly keptMs: number | undefined }): ReactNode {
  return keptMs === 0 ? null : <ContentNotice keptMs={keptMs} />
}
