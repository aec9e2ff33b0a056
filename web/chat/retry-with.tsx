import { useEffect, type ReactNode } from 'react'
import { ModelPicker } from '../models/model-picker.tsx'
import { openModelPicker } from '../models/picker-registry.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

export interface RetryWithProps {
  readonly model: string | undefined
  readonly onRetry: (model: string) => void
  readonly onClose: () => void
}

/** Dialog that chooses another model for an answer. Its picker opens at once. */
export function RetryWith({ model, onRetry, onClose }: RetryWithProps): ReactNode {
  // The picker of this dialog was registered last.
  useEffect(() => void openModelPicker(), [])
  return (
    <Dialog
      title={say.chat.anotherModel}
      isOpen
      onClose={onClose}
      footer={<Button onClick={onClose}>{say.common.cancel}</Button>}
    >
      <p className="mb-2 text-sm text-muted">{say.chat.answersFromNowOn}</p>
      <div className="inline-flex max-w-full rounded-lg border border-line">
        <ModelPicker model={model} onChange={onRetry} />
      </div>
    </Dialog>
  )
}
