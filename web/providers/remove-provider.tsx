import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** Asks before a provider is removed from the file. */
export function RemoveProvider({
  id,
  onRemove,
  onClose,
}: {
  readonly id: string
  readonly onRemove: () => void
  readonly onClose: () => void
}): ReactNode {
  return (
    <Dialog
      title="Remove this provider?"
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button variant="danger" onClick={onRemove}>
            Remove
          </Button>
        </>
      }
    >
      <p className="[overflow-wrap:anywhere]">
        The entry <bdi className="font-medium">{id}</bdi>, with its comments, is taken out of providers.json. Its switch
        only keeps it from being asked.
      </p>
    </Dialog>
  )
}
