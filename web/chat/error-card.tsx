import { useState, type ReactNode } from 'react'
import type { TrailEntry } from '../../src/observe/request-entry.ts'
import { hrefOf } from '../app/route.ts'
import type { AssistantMessage, Provenance } from '../history/conversation.ts'
import { formatContext } from '../models/describe-model.ts'
import { modelsThatFit } from '../models/models-that-fit.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { TrailList } from '../ui/trail-list.tsx'
import { useNow } from '../ui/use-now.ts'
import { explainError, lastFailures, type Remedy } from './explain-error.ts'
import type { MessageActions } from './message-actions.ts'
import { ProvenanceDetails } from './provenance-details.tsx'

export interface ErrorCardProps {
  readonly answer: AssistantMessage
  readonly error: NonNullable<AssistantMessage['error']>
  /** Whether the answer is the last message, so that remedies apply. */
  readonly isLast: boolean
  readonly actions: MessageActions
}

/** An error in place of the answer: one sentence, who failed, and the remedy that helps most. The rest is folded. */
export function ErrorCard({ answer, error, isLast, actions }: ErrorCardProps): ReactNode {
  const { provenance, text, time } = answer
  const { title, advice, remedies, hasDetail } = explainError(error, text !== '', provenance?.trail)
  if (!isLast) return <Notice kind="warn" title={title} />
  const failures = error.code === 'provider_error' ? lastFailures(provenance?.trail ?? []) : []
  const until = error.retryAfter && time + (provenance?.totalMs ?? 0) + error.retryAfter * 1_000
  // The button of a retry is also the wait for it.
  const isAtOnce = (remedy: Remedy): boolean => remedy === remedies[0] || (until !== undefined && remedy === 'retry')
  const buttons = (which: readonly Remedy[]): ReactNode =>
    which.map((remedy) => (
      <RemedyButton key={remedy} isFirst={remedy === remedies[0]} {...{ remedy, answer, actions, until }} />
    ))
  return (
    <Notice
      kind="error"
      title={title}
      actions={
        <>
          {buttons(remedies.filter(isAtOnce))}
          <Details>
            <p>{advice}</p>
            {hasDetail ? <p className="text-xs">{error.message}</p> : null}
            <Code error={error} />
            {provenance === undefined ? null : <ProvenanceDetails provenance={withoutShown(provenance, failures)} />}
            <div className="flex flex-wrap gap-2 empty:hidden">
              {buttons(remedies.filter((remedy) => !isAtOnce(remedy)))}
            </div>
          </Details>
        </>
      }
    >
      {failures.length === 0 ? undefined : <Failures failures={failures} />}
    </Notice>
  )
}

/** The provenance without its attempts, if the card shows them all. */
function withoutShown(provenance: Provenance, { length }: readonly TrailEntry[]): Provenance {
  return length === provenance.trail.length && length <= failuresMax ? { ...provenance, trail: [] } : provenance
}

const failuresMax = 3

/** The providers that failed, with a link where the owner can do something. */
function Failures({ failures }: { readonly failures: readonly TrailEntry[] }): ReactNode {
  const { boot } = useServices()
  const more = failures.length - failuresMax
  return (
    <>
      <TrailList
        trail={failures.slice(0, failuresMax)}
        label={say.ui.failedProviders}
        more={({ failure }) =>
          boot.isOwner && failure === 'credential' ? (
            <>
              {' · '}
              <a href={hrefOf({ view: 'providers' })} className="text-accent underline">
                {say.chat.enterKey}
              </a>
            </>
          ) : null
        }
      />
      {more > 0 ? <p className="ml-6.5">{say.ui.moreProviders(formatCount(more))}</p> : null}
    </>
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
  /** When a retry may succeed, in Unix milliseconds. Absent: now. */
  readonly until: number | undefined
}

function RemedyButton({ remedy, isFirst, answer, actions, until }: RemedyProps): ReactNode {
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
          {until === undefined ? say.common.retry : <RetryIn until={until} />}
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

/** Counts the seconds until a retry may succeed; it may be tried before. Screen readers do not read each second. */
function RetryIn({ until }: { readonly until: number }): ReactNode {
  const now = useNow(1_000)
  const [began] = useState(now)
  const secondsFrom = (time: number): number => Math.ceil((until - time) / 1_000)
  if (secondsFrom(now) <= 0) return say.common.retry
  return (
    <>
      <span className="sr-only">{say.chat.retryIn(formatCount(secondsFrom(began)))}</span>
      <span className="tabular-nums" aria-hidden="true">
        {say.chat.retryIn(formatCount(secondsFrom(now)))}
      </span>
    </>
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
