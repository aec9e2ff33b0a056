import type { ReactNode } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { Button } from '../ui/button.tsx'
import { canContinue } from './conversation-changes.ts'
import { ErrorCard } from './error-card.tsx'
import type { MessageActions } from './message-actions.ts'

/** Props of {@link AnswerEnd}. */
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
          <ErrorCard answer={answer} error={answer.error} isLast={isLast} actions={actions} />
        </div>
      )}
      {words === undefined && !canResume ? null : (
        <div className="mt-2 flex flex-wrap items-center gap-2 text-sm text-muted">
          {words === undefined ? null : <p>{words}</p>}
          {canResume ? (
            <Button icon="play" onClick={actions.continueAnswer}>
              Continue
            </Button>
          ) : null}
          {isLast && answer.status === 'interrupted' ? (
            <Button icon="retry" onClick={actions.retry}>
              Retry
            </Button>
          ) : null}
        </div>
      )}
    </>
  )
}

function endInWords({ status, text, finishReason }: AssistantMessage): string | undefined {
  const hasText = text.trim() !== ''
  switch (status) {
    case 'stopped':
      return hasText ? 'Stopped.' : 'Stopped before an answer began.'
    case 'interrupted':
      return hasText
        ? 'Interrupted: the connection ended before the answer did.'
        : 'Interrupted before an answer began.'
    case 'complete':
      return finishInWords(finishReason, hasText)
    default:
      return undefined
  }
}

function finishInWords(finishReason: string | undefined, hasText: boolean): string | undefined {
  if (finishReason === 'length') return 'The answer reached its token limit.'
  if (finishReason === 'content_filter') return 'The provider held back the rest of the answer.'
  return hasText ? undefined : 'The answer is empty.'
}
