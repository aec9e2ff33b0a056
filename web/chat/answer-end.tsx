import { useSyncExternalStore, type ReactNode } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { lazily } from '../ui/lazily.tsx'
import { Notice } from '../ui/notice.tsx'
import { canContinue } from './conversation-changes.ts'
import type { MessageActions } from './message-actions.ts'

const ErrorCard = lazily(async () => (await import('./chat-tools.ts')).ErrorCard)

export interface AnswerEndProps {
  readonly answer: AssistantMessage
  readonly isLast: boolean
  readonly actions: MessageActions
}

/** Below an answer that is incomplete: why it ended, and how to go on. */
export function AnswerEnd({ answer, isLast, actions }: AnswerEndProps): ReactNode {
  const words = endInWords(answer)
  // The error card has its own button for it.
  const canResume = isLast && answer.error === undefined && canContinue(answer)
  return (
    <>
      {answer.error === undefined ? null : (
        <div className="mt-2">
          {answer.error.kind === 'network' ? (
            <NetworkError answer={answer} isLast={isLast} actions={actions} />
          ) : (
            <ErrorCard answer={answer} error={answer.error} isLast={isLast} actions={actions} />
          )}
        </div>
      )}
      {words === undefined && !canResume ? null : (
        <div className="mt-2 flex flex-wrap items-center gap-2 text-sm text-muted">
          {words === undefined ? null : <p>{words}</p>}
          {canResume ? continueButton(actions) : null}
          {isLast && answer.status === 'interrupted' ? retryButton(actions) : null}
        </div>
      )}
    </>
  )
}

type Remedies = Pick<MessageActions, 'continueAnswer' | 'retry'>

function continueButton({ continueAnswer }: Remedies, variant: 'primary' | 'plain' = 'plain'): ReactNode {
  return (
    <Button variant={variant} icon="play" onClick={continueAnswer}>
      {say.chat.continue}
    </Button>
  )
}

function retryButton({ retry }: Remedies, variant: 'primary' | 'plain' = 'plain'): ReactNode {
  return (
    <Button variant={variant} icon="retry" onClick={retry}>
      {say.common.retry}
    </Button>
  )
}

function endInWords({ status, text, tools, finishReason }: AssistantMessage): string | undefined {
  const hasText = text.trim() !== '' || tools !== undefined
  switch (status) {
    case 'stopped':
      return hasText ? say.chat.stoppedLate : say.chat.stoppedEarly
    case 'interrupted':
      return hasText ? say.chat.interruptedLate : say.chat.interruptedEarly
    case 'complete':
      return finishInWords(finishReason, hasText)
    default:
      return undefined
  }
}

function finishInWords(finishReason: string | undefined, hasText: boolean): string | undefined {
  if (finishReason === 'length') return say.chat.tokenLimit
  if (finishReason === 'content_filter') return say.chat.heldBack
  return hasText ? undefined : say.chat.empty
}

interface NetworkErrorProps {
  readonly answer: AssistantMessage
  /** Whether the answer is the last message, so that remedies apply. */
  readonly isLast: boolean
  readonly actions: Remedies
}

/** In place of an answer whose service did not answer. It needs nothing from the service, unlike other errors. */
function NetworkError({ answer, isLast, actions }: NetworkErrorProps): ReactNode {
  const isOnline = useSyncExternalStore(subscribeToOnline, () => navigator.onLine)
  const { title, advice } = isOnline ? say.errors.unreachable : say.errors.offline
  if (!isLast) return <Notice kind="warn" title={title} />
  return (
    <Notice
      kind="error"
      title={title}
      actions={
        <>
          {answer.text === '' ? null : continueButton(actions, 'primary')}
          {retryButton(actions, answer.text === '' ? 'primary' : 'plain')}
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
