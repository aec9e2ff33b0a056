import { useState, type ReactNode } from 'react'
import { ModelPicker } from '../models/model-picker.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** What {@link RetryWith} needs. */
export interface RetryWithProps {
  readonly model: string | undefined
  readonly onRetry: (model: string) => void
  readonly onClose: () => void
}

/** Asks which model is to answer instead. */
export function RetryWith({ model, onRetry, onClose }: RetryWithProps): ReactNode {
  const [chosen, setChosen] = useState(model)
  return (
    <Dialog
      title="Retry with another model"
      isOpen
      onClose={onClose}
      footer={<><Button onClick={onClose}>Cancel</Button><Button variant="primary" icon="retry" disabled={chosen === undefined} onClick={() => {
        if (chosen !== undefined) onRetry(chosen)
      }}>Retry</Button></>}
    >
      <p className="mb-2 text-sm text-muted">It answers the same question, and is asked from now on.</p>
      <div className="inline-flex max-w-full rounded-lg border border-line"><ModelPicker model={chosen} onChange={setChosen} /></div>
    </Dialog>
  )
}
