import type { ReactNode } from 'react'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
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
      title={say.providers.removeAsk}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{say.common.keepIt}</Button>
          <Button variant="danger" onClick={onRemove}>
            {say.providers.removeIt}
          </Button>
        </>
      }
    >
      <p className="[overflow-wrap:anywhere]">
        {rich(say.providers.removeHint, { id: <bdi className="font-medium">{id}</bdi> })}
      </p>
    </Dialog>
  )
}
