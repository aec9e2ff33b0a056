import { useState, type ReactNode } from 'react'
import { messageOf } from '../message-of.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

interface KeyDialogProps {
  readonly title: string
  /** Label of the button that performs the change. */
  readonly label: string
  readonly isDangerous?: boolean
  /** Performs the change. The dialog shows its failure, else closes. */
  readonly perform: () => Promise<void>
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Asks before a change of a key. */
export function KeyDialog({ title, label, isDangerous, perform, onClose, children }: KeyDialogProps): ReactNode {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()

  async function performOnce(): Promise<void> {
    if (isBusy) return
    setBusy(true)
    try {
      await perform()
    } catch (error) {
      setFailure(messageOf(error))
      setBusy(false)
    }
  }

  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{say.common.keepIt}</Button>
          <Button
            variant={isDangerous ? 'danger' : 'primary'}
            aria-disabled={isBusy}
            onClick={() => void performOnce()}
          >
            {label}
          </Button>
        </>
      }
    >
      {children}
      <p role="alert" className="mt-2 text-sm text-bad empty:hidden">
        {failure}
      </p>
    </Dialog>
  )
}
