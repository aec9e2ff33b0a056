import type { ReactNode } from 'react'
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
  const those = count === 1 ? '1 conversation' : `${count} conversations`
  return (
    <Dialog
      title="Delete all conversations?"
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="danger" onClick={onDelete}>
            Delete {those}
          </Button>
        </>
      }
    >
      <p>
        {those} will be deleted from this browser, with drafts and pictures. This cannot be undone. They are kept
        nowhere else, unless you export them first.
      </p>
    </Dialog>
  )
}
