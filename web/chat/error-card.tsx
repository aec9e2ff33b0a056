import { useState, type ReactNode } from 'react'
import { hrefOf } from '../app/route.ts'
import type { AssistantMessage } from '../history/conversation.ts'
import { formatContext } from '../models/describe-model.ts'
import { modelsThatFit } from '../models/models-that-fit.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { useNow } from '../ui/use-now.ts'
import { explainError, reasonsOf, type Remedy } from './explain-error.ts'
import type { MessageActions } from './message-actions.ts'
import { ProvenanceDetails } from './provenance-details.tsx'

export interface ErrorCardProps {
  readonly answer: AssistantMessage
  readonly error: NonNullable<AssistantMessage['error']>
  /** Whether the answer is the last message, so that remedies apply. */
  readonly isLast: boolean
  readonly actions: MessageActions
}

/** An error in place of the answer: one sentence, and the remedy that helps most. Everything else is folded. */
export function ErrorCard({ answer, error, isLast, actions }: ErrorCardProps): ReactNode {
  const { title, advice, remedies, hasDetail } = explainError(error, answer.text !== '', answer.provenance?.trail)
  const [first, ...others] = remedies
  if (!isLast) return <Notice kind="warn" title={title} />
  const reasons = error.code === 'provider_error' ? reasonsOf(answer.provenance?.trail ?? []) : ''
  return (
    <Notice
      kind="error"
      title={title}
      actions={
        <>
          {first === undefined ? null : <RemedyButton remedy={first} isFirst answer={answer} actions={actions} />}
          {error.retryAfter === undefined ? null : (
            <Wait
              seconds={error.retryAfter}
              until={answer.time + (answer.provenance?.totalMs ?? 0) + error.retryAfter * 1_000}
            />
          )}
          <Details>
            <p>{advice}</p>
            {hasDetail ? <p className="text-xs">{error.message}</p> : null}
            <Code error={error} />
            {answer.provenance === undefined ? null : <ProvenanceDetails provenance={answer.provenance} />}
            {others.length === 0 ? null : (
              <div className="flex flex-wrap gap-2">
                {others.map((remedy) => (
                  <RemedyButton key={remedy} remedy={remedy} isFirst={false} answer={answer} actions={actions} />
                ))}
              </div>
            )}
          </Details>
        </>
      }
    >
      {reasons === '' ? undefined : <bdi>{reasons}</bdi>}
    </Notice>
  )
}

/** Folded content, rendered when opened. */
function Details({ children }: { readonly children: ReactNode }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="basis-full text-sm" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit rounded-md py-1 pointer-coarse:py-2.5">{say.common.details}</summary>
      {isOpen ? <div className="mt-1 flex flex-col gap-2">{children}</div> : null}
    </details>
  )
}

/** The error as programs know it. */
function Code({ error: { code, status } }: Pick<ErrorCardProps, 'error'>): ReactNode {
  if (code === undefined && status === undefined) return null
  return (
    <p className="text-xs">
      {code === undefined ? null : rich(say.chat.code, { code: <code className="font-mono">{code}</code> })}
      {code === undefined || status === undefined ? null : ', '}
      {status === undefined ? null : say.ui.statusIs(String(status))}
    </p>
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
          {say.chat.continue}
        </Button>
      )
    case 'retry':
      return (
        <Button variant={variant} icon="retry" onClick={actions.retry}>
          {say.common.retry}
        </Button>
      )
    case 'larger-model':
      return <LargerModel answer={answer} actions={actions} />
    case 'choose-model':
      return (
        <Button variant={variant} onClick={actions.retryWith}>
          {say.chat.changesModel}
        </Button>
      )
    case 'settings':
      return (
        <Button variant={variant} icon="sliders" onClick={actions.openSettings}>
          {say.common.openSettings}
        </Button>
      )
    case 'edit':
    case 'shorten':
      return (
        <Button variant={variant} icon="edit" onClick={() => actions.editQuestion(answer.id)}>
          {remedy === 'edit' ? say.chat.editTheMessage : say.chat.makeSmaller}
        </Button>
      )
    case 'reload':
      return (
        <Button variant={variant} icon="retry" onClick={() => location.reload()}>
          {say.common.reloadPage}
        </Button>
      )
    case 'providers':
      return (
        <ButtonLink href={hrefOf({ view: 'providers' })} variant={variant}>
          {say.common.lookAtProviders}
        </ButtonLink>
      )
  }
}

/** Counts the seconds until a retry may succeed. Screen readers read them once. */
function Wait({ seconds, until }: { readonly seconds: number; readonly until: number }): ReactNode {
  const left = Math.ceil((until - useNow(1_000)) / 1_000)
  if (left <= 0) return null
  return (
    <p className="self-center text-sm">
      <span className="sr-only">{say.chat.betterWait(formatCount(seconds))}</span>
      <span className="tabular-nums" aria-hidden="true">
        {say.chat.betterWait(formatCount(left))}
      </span>
    </p>
  )
}

/** Average for English. */
const charactersPerToken = 4

interface LargerModelProps {
  /** The answer that failed because the conversation exceeds the model's context. */
  readonly answer: AssistantMessage
  readonly actions: Pick<MessageActions, 'asked' | 'editQuestion' | 'retryAs'>
}

/** Button that retries with a model of a larger context. If no such model is known, one that edits the message. */
function LargerModel({ answer, actions }: LargerModelProps): ReactNode {
  const { models } = useServices()
  const state = useStore(models.state)
  if (state.kind !== 'ready') return null
  const { model = '', characters } = actions.asked(answer.id)
  const [larger] = modelsThatFit(state.answer.models, model, characters / charactersPerToken)
  if (larger === undefined)
    return (
      <Button variant="primary" icon="edit" onClick={() => actions.editQuestion(answer.id)}>
        {say.chat.makeSmaller}
      </Button>
    )
  return (
    <Button variant="primary" onClick={() => actions.retryAs(larger.name)}>
      <span className="min-w-0">
        <bdi>{say.chat.ask(larger.name)}</bdi>
        {say.chat.askTokens(formatContext(larger.context))}
      </span>
    </Button>
  )
}
