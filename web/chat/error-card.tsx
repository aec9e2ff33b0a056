import { useSyncExternalStore, type ReactNode } from 'react'
import { hrefOf } from '../app/route.ts'
import type { AssistantMessage } from '../history/conversation.ts'
import { AttemptsTable } from '../ui/attempts-table.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { lazily } from '../ui/lazily.tsx'
import { Notice } from '../ui/notice.tsx'
import { useNow } from '../ui/use-now.ts'
import { explainError, type Remedy } from './explain-error.ts'
import type { MessageActions } from './message-actions.ts'

const ModelsThatFit = lazily(async () => (await import('./chat-tools.ts')).ModelsThatFit, { failed: () => null })

/** Props of {@link ErrorCard}. */
export interface ErrorCardProps {
  readonly answer: AssistantMessage
  readonly error: NonNullable<AssistantMessage['error']>
  /** Whether the answer is the last message, so that remedies apply. */
  readonly isLast: boolean
  readonly actions: MessageActions
}

/** An error in place of the answer: explanation and remedies. */
export function ErrorCard({ answer, error, isLast, actions }: ErrorCardProps): ReactNode {
  const isOnline = useSyncExternalStore(subscribeToOnline, () => navigator.onLine)
  const { title, advice, remedies, hasDetail } = explainError(error, { isOnline, hasText: answer.text !== '' })
  const trail = answer.provenance?.trail ?? []
  const hasFailures = trail.some(({ failure }) => failure !== undefined)
  if (!isLast) return <Notice kind="warn" title={title} />
  return (
    <Notice
      kind="error"
      title={title}
      actions={remedies.map((remedy) => (
        <RemedyButton key={remedy} remedy={remedy} isFirst={remedy === remedies[0]} answer={answer} actions={actions} />
      ))}
    >
      <p>
        {advice}
        {error.retryAfter === undefined ? null : (
          <Countdown until={answer.time + (answer.provenance?.totalMs ?? 0) + error.retryAfter * 1_000} />
        )}
      </p>
      {hasFailures ? (
        <div className="mt-2 max-w-lg text-xs">
          <AttemptsTable trail={trail} />
        </div>
      ) : null}
      {hasDetail ? <p className="mt-2 text-xs">{error.message}</p> : null}
    </Notice>
  )
}

interface RemedyProps {
  readonly remedy: Remedy
  readonly isFirst: boolean
  readonly answer: AssistantMessage
  readonly actions: MessageActions
}

function RemedyButton({ remedy, isFirst, answer, actions }: RemedyProps): ReactNode {
  const variant = isFirst ? 'primary' : 'plain'
  switch (remedy) {
    case 'continue':
      return (
        <Button variant={variant} icon="play" onClick={actions.continueAnswer}>
          Continue
        </Button>
      )
    case 'retry':
      return (
        <Button variant={variant} icon="retry" onClick={actions.retry}>
          Retry
        </Button>
      )
    case 'larger-model':
      return <ModelsThatFit answer={answer} actions={actions} />
    case 'choose-model':
      return (
        <Button variant={variant} onClick={actions.retryWith}>
          Choose another model…
        </Button>
      )
    case 'settings':
      return (
        <Button variant={variant} icon="sliders" onClick={actions.openSettings}>
          Open the settings…
        </Button>
      )
    case 'edit':
      return (
        <Button variant={variant} icon="edit" onClick={() => actions.editQuestion(answer.id)}>
          Edit the message
        </Button>
      )
    case 'providers':
      return (
        <ButtonLink href={hrefOf({ view: 'providers' })} variant={variant}>
          Look at the providers
        </ButtonLink>
      )
  }
}

/** Seconds until a retry may succeed; then nothing. */
function Countdown({ until }: { readonly until: number }): ReactNode {
  const seconds = Math.ceil((until - useNow(1_000)) / 1_000)
  return seconds <= 0 ? null : <span className="tabular-nums"> It asks to wait for {seconds} s.</span>
}

function subscribeToOnline(listener: () => void): () => void {
  addEventListener('online', listener)
  addEventListener('offline', listener)
  return () => {
    removeEventListener('online', listener)
    removeEventListener('offline', listener)
  }
}
