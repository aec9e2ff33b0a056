import { useState, type ReactNode } from 'react'
import type { LimitRowEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { focusContent } from '../ui/focus-content.ts'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { ChangedLines } from './changed-lines.tsx'
import { placeOf } from './limit-words.ts'
import { useDraft } from './use-draft.ts'

interface RemoveLimitProps {
  readonly row: LimitRowEntry
  readonly onClose: () => void
  readonly onRemoved: () => void
}

/** Asks whether a limit is removed, and shows its line. */
export function RemoveLimit({ row, onClose, onRemoved }: RemoveLimitProps): ReactNode {
  const [place] = useState(() => Number(placeOf(row)))
  const { answer, failure, isCurrent, isSaving, save } = useDraft({ place, limit: null, version: undefined })

  async function remove(): Promise<void> {
    if (!(await save())) return
    onClose()
    onRemoved()
    // The menu that had the focus is gone.
    focusContent()
  }

  return (
    <Dialog
      title={say.limitForm.removeAsk}
      isOpen
      size="lg"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{say.common.cancel}</Button>
          <Button
            variant="danger"
            aria-disabled={!isCurrent || isSaving || answer?.faults.length !== 0}
            onClick={() => void remove()}
          >
            {say.limitForm.removeNow}
          </Button>
        </>
      }
    >
      {failure === undefined ? null : (
        <Notice kind="error" title={say.limitForm.notSaved}>
          {failure}
        </Notice>
      )}
      {answer === undefined ? failure === undefined ? <Loading /> : null : null}
      {answer?.faults.map(({ message }) => (
        <p key={message}>{message}</p>
      ))}
      {answer === undefined ? null : <ChangedLines before={answer.base.text ?? ''} after={answer.text} />}
    </Dialog>
  )
}
