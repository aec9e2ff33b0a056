import { useEffect, useRef } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'

/** Announces the start and the end of an answer to screen readers, but not its text. Errors announce themselves. */
export function useAnnouncements(answer: AssistantMessage | undefined): void {
  const id = answer?.id,
    status = answer?.status
  const before = useRef<string>(undefined)
  useEffect(() => {
    if (status === 'streaming') announce(say.common.answering)
    else if (id !== undefined && before.current === id) {
      if (status === 'complete') announce(say.chat.answerComplete)
      if (status === 'stopped') announce(say.chat.answerStopped)
      if (status === 'interrupted') announce(say.chat.answerInterrupted)
    }
    before.current = status === 'streaming' ? id : undefined
  }, [id, status])
}
