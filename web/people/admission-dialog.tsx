import { useState, type ReactNode } from 'react'
import type { AdmissionAnswer, AdmissionChange, RefusedEntry } from '../../src/http/page/page-api.ts'
import { ChangedLines } from '../limits/changed-lines.tsx'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { focusContent } from '../ui/focus-content.ts'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { useLoaded } from '../ui/use-answer.ts'

interface AdmissionDialogProps {
  readonly user: Pick<RefusedEntry, 'user' | 'userId'>
  readonly mayEnter: boolean
  readonly onClose: () => void
  readonly onSaved: () => void
}

/** Shows how the list of those who may sign in changes, and saves it. */
export function AdmissionDialog({
  user: { user, userId },
  mayEnter,
  onClose,
  onSaved,
}: AdmissionDialogProps): ReactNode {
  const { client } = useServices()
  const change: AdmissionChange = { user, userId, mayEnter }
  const path = '/api/people/admission'
  const { answer, error, reload } = useLoaded(
    (_, signal) => client.post<AdmissionAnswer>(path, change, signal),
    `${path} ${userId} ${mayEnter}`,
  )
  const [failure, setFailure] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  async function save(): Promise<void> {
    if (isBusy || answer === undefined) return
    setBusy(true)
    try {
      await client.post<AdmissionAnswer>(path, { ...change, version: answer.version })
      onSaved()
      onClose()
      // The button that had the focus is gone.
      focusContent()
    } catch (reason) {
      setFailure(messageOf(reason))
      setBusy(false)
      reload()
    }
  }

  const why = failure ?? error
  const action = mayEnter ? say.people.admit(user) : say.people.blockNow(user)
  return (
    <Dialog
      title={mayEnter ? action : say.people.blockAsk(user)}
      isOpen
      size="lg"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{say.common.cancel}</Button>
          <Button
            variant={mayEnter ? 'primary' : 'danger'}
            aria-disabled={isBusy || answer === undefined}
            onClick={() => void save()}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {mayEnter ? null : <p>{say.people.blockHint}</p>}
        {why === undefined ? null : (
          <Notice kind="error" title={say.people.failed}>
            {why}
          </Notice>
        )}
        {answer === undefined ? (
          error === undefined ? (
            <Loading />
          ) : null
        ) : (
          <>
            <p className="text-sm text-muted [overflow-wrap:anywhere]">
              {say.people.change(String(answer.line), answer.file)}
            </p>
            <ChangedLines before={answer.before} after={answer.after} />
          </>
        )}
      </div>
    </Dialog>
  )
}
