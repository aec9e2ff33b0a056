import { useEffect, useRef } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { announce } from '../ui/announce.ts'

/** Announces the start and the end of an answer to screen readers, but not its text. Errors announce themselves. */
export function useAnnouncements(answer: AssistantMessage | undefined): void {
  const id = answer?.id,
    status = answer?.status
  const before = useRef<string>(undefined)
  useEffect(() => {
    if (status === 'streaming') announce('Answering…')
    else if (id !== undefined && before.current === id) {
      if (status === 'complete') announce('Answer complete')
      if (status === 'stopped') announce('Answer stopped')
      if (status === 'interrupted') announce('Answer interrupted')
    }
    before.current = status === 'streaming' ? id : undefined
  }, [id, status])
}
