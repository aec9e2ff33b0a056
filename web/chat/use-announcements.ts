import { useEffect, useRef } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { announce } from '../ui/announce.ts'

/**
 * Has it read out when an answer begins and when it ends, but not the answer itself, nor what ended before somebody
 * looked. Errors say so themselves.
 */
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
