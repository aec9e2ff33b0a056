import { useEffect, useEffectEvent, useState, type ReactNode } from 'react'
import type { DraftState } from '../chat/use-draft.ts'
import { useEscape } from '../chat/use-escape.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { browserRecognition, dictate } from './recognition.ts'

export interface DictationProps {
  readonly drafts: DraftState
  /** Called when it ended by itself or by Escape. @param fault why, if something is wrong */
  readonly onEnd: (fault?: string) => void
}

const agreedKey = 'svc-dictation'

/** Dictates into the message field while it is mounted. The first time, it asks whether the browser may hear. */
export function Dictation({ drafts, onEnd }: DictationProps): ReactNode {
  const [isAgreed, setAgreed] = useState(hasAgreed)
  const onOver = useEffectEvent((fault?: string) => {
    announce(fault ?? say.voice.ended)
    onEnd(fault)
  })
  const text = useEffectEvent(() => drafts.current().text)
  const onText = useEffectEvent((next: string) => drafts.change((draft) => ({ ...draft, text: next })))
  useEscape(isAgreed, () => onOver())
  useEffect(() => {
    if (!isAgreed) return undefined
    announce(say.voice.dictating)
    return dictate({
      recognition: browserRecognition(),
      text: () => text(),
      onText: (next) => onText(next),
      onEnd: (fault) => onOver(fault),
    })
  }, [isAgreed])

  if (isAgreed)
    return (
      <p className="flex items-center gap-2 px-4 pb-1 text-sm text-muted">
        <span aria-hidden="true" className="size-2.5 animate-pulse rounded-full bg-bad" />
        {say.voice.dictatingHint}
      </p>
    )
  return (
    <Dialog
      title={say.voice.dictate}
      isOpen
      onClose={() => onEnd()}
      footer={
        <>
          <Button onClick={() => onEnd()}>{say.common.cancel}</Button>
          <Button
            variant="primary"
            onClick={() => {
              agree()
              setAgreed(true)
            }}
          >
            {say.chat.dictate}
          </Button>
        </>
      }
    >
      <p>{say.voice.agree}</p>
      <p className="mt-2 text-sm text-muted">{say.voice.agreeOnce}</p>
    </Dialog>
  )
}

function hasAgreed(): boolean {
  try {
    return localStorage.getItem(agreedKey) === 'on'
  } catch {
    return false
  }
}

function agree(): void {
  try {
    localStorage.setItem(agreedKey, 'on')
  } catch {
    // Storage is forbidden: it is asked again.
  }
}
