import { useSyncExternalStore, type ReactNode } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import type { MessageActions } from './message-actions.ts'

/** Props of {@link NetworkError}. */
export interface NetworkErrorProps {
  readonly answer: AssistantMessage
  /** Whether the answer is the last message, so that remedies apply. */
  readonly isLast: boolean
  readonly actions: Pick<MessageActions, 'continueAnswer' | 'retry'>
}

/** In place of an answer whose service did not answer. It needs nothing from the service, unlike other errors. */
export function NetworkError({ answer, isLast, actions }: NetworkErrorProps): ReactNode {
  const isOnline = useSyncExternalStore(subscribeToOnline, () => navigator.onLine)
  const { title, advice } = isOnline ? say.errors.unreachable : say.errors.offline
  if (!isLast) return <Notice kind="warn" title={title} />
  return (
    <Notice
      kind="error"
      title={title}
      actions={
        <>
          {answer.text === '' ? null : (
            <Button variant="primary" icon="play" onClick={actions.continueAnswer}>
              {say.chat.continue}
            </Button>
          )}
          <Button variant={answer.text === '' ? 'primary' : 'plain'} icon="retry" onClick={actions.retry}>
            {say.common.retry}
          </Button>
        </>
      }
    >
      {advice}
    </Notice>
  )
}

function subscribeToOnline(listener: () => void): () => void {
  addEventListener('online', listener)
  addEventListener('offline', listener)
  return () => {
    removeEventListener('online', listener)
    removeEventListener('offline', listener)
  }
}
