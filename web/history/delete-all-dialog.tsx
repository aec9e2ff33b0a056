import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** Props of {@link DeleteAllDialog}. */
export interface DeleteAllDialogProps {
  /** Number of conversations. */
  readonly count: number
  readonly onClose: () => void
  readonly onDelete: () => void
}

/** Confirms the deletion of all conversations. */
export function DeleteAllDialog({ count, onClose, onDelete }: DeleteAllDialogProps): ReactNode {
  return (
    <Dialog
      title={say.history.deleteAllAsk}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{say.common.cancel}</Button>
          <Button variant="danger" onClick={onDelete}>
            {say.history.deleteCount(count)}
          </Button>
        </>
      }
    >
      <p>{say.history.deleteAllHint(count)}</p>
    </Dialog>
  )
}
