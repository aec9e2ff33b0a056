import { useEffect, type ReactNode } from 'react'
import { ModelPicker } from '../models/model-picker.tsx'
import { openModelPicker } from '../models/picker-open.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** What {@link RetryWith} needs. */
export interface RetryWithProps {
  readonly model: string | undefined
  readonly onRetry: (model: string) => void
  readonly onClose: () => void
}

/** Asks which model is to answer instead, with the picker open at once. */
export function RetryWith({ model, onRetry, onClose }: RetryWithProps): ReactNode {
  // The picker of this dialog is the latest.
  useEffect(() => void openModelPicker(), [])
  return (
    <Dialog
      title="Retry with another model"
      isOpen
      onClose={onClose}
      footer={<Button onClick={onClose}>Cancel</Button>}
    >
      <p className="mb-2 text-sm text-muted">It answers the same question, and is asked from now on.</p>
      <div className="inline-flex max-w-full rounded-lg border border-line">
        <ModelPicker model={model} onChange={onRetry} />
      </div>
    </Dialog>
  )
}
