import type { ReactNode } from 'react'
import { navigate } from '../app/route.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import type { HistoryStore } from './conversation.ts'
import { clearDeleted } from './deleted.ts'

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

/** Deletes all conversations, and opens a new one. There is no undo. */
export async function deleteAll(history: HistoryStore): Promise<void> {
  clearDeleted()
  await history.clear()
  announce(say.history.allDeleted)
  navigate({ view: 'chat' })
}
