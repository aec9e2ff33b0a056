import { useState, type ReactNode } from 'react'
import type { AssistantMessage, TokenLogprob } from '../history/conversation.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { say } from '../texts/say.ts'
import { formatSeconds } from '../ui/format-seconds.ts'
import { Icon } from '../ui/icon.tsx'
import { lazily } from '../ui/lazily.tsx'
import { TrailRow } from '../ui/trail-row.tsx'
import { stepsOf } from '../ui/trail-steps.ts'
import { AnswerEnd } from './answer-end.tsx'
import { AnswerTools } from './answer-tools.tsx'
import { LiveLine } from './live-line.tsx'
import type { MessageActions } from './message-actions.ts'
import { figuresOf } from './provenance.ts'

const ToolCards = lazily(async () => (await import('./tool-cards.tsx')).ToolCards)
const LogprobsView = lazily(async () => (await import('./chat-tools.ts')).LogprobsView)

export interface AnswerViewProps {
  readonly answer: AssistantMessage
  readonly isLast: boolean
  /** Whether another tab is receiving the answer, if it is interrupted. `undefined`: not known yet. */
  readonly isAnsweredElsewhere: boolean | undefined
  readonly actions: MessageActions
}

/** An answer: reasoning, text, end, provenance. Nothing is remounted when it ends. */
export function AnswerView({ answer, isLast, isAnsweredElsewhere, actions }: AnswerViewProps): ReactNode {
  const isStreaming = answer.status === 'streaming'
  // After a reload, before the service has said whether it has the answer.
  const isTakenUp = answer.status === 'interrupted' && answer.live !== undefined && isAnsweredElsewhere === undefined
  const isLive = isStreaming || isTakenUp
  return (
    <div className="group/answer @container min-w-0">
      <h2 className="sr-only">{say.common.answer}</h2>
      {answer.reasoning === '' ? null : (
        <Reasoning text={answer.reasoning} ms={answer.reasoningMs} isThinking={isStreaming && answer.text === ''} />
      )}
      {answer.tools === undefined ? null : <ToolCards calls={answer.tools} isStreaming={isStreaming} />}
      {answer.text === '' ? null : (
        <div className={isStreaming ? 'growing' : undefined}>
          <Markdown text={answer.text} isStreaming={isStreaming} />
        </div>
      )}
      {isLive ? (
        <LiveLine answer={answer} />
      ) : (
        <>
          {answer.status !== 'interrupted' || isAnsweredElsewhere === false ? (
            <AnswerEnd answer={answer} isLast={isLast} actions={actions} />
          ) : isAnsweredElsewhere ? (
            <p className="mt-2 text-sm text-muted">{say.chat.answeredElsewhere}</p>
          ) : null}
          {answer.logprobs === undefined ? null : <Probabilities logprobs={answer.logprobs} />}
          <div className="relative mt-1 @lg:min-h-9">
            <ProvenanceLine answer={answer} isLast={isLast} />
            <AnswerTools answer={answer} isLast={isLast} actions={actions} />
          </div>
        </>
      )}
    </div>
  )
}

/** Log probabilities, rendered when opened. */
function Probabilities({ logprobs }: { readonly logprobs: readonly TokenLogprob[] }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="mt-2 text-sm" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit rounded-md py-1 text-muted">{say.chat.probabilities}</summary>
      {isOpen ? <LogprobsView logprobs={logprobs} /> : null}
    </details>
  )
}

/** Attempts, times, tokens, cost and request id of an answer. */
const ProvenanceDetails = lazily(async () => (await import('./chat-tools.ts')).ProvenanceDetails, {
  placeholder: <p>{say.common.loading}</p>,
})

/** The way to an answer in one line, with model, time and cost. Opens to everything else. */
function ProvenanceLine({
  answer: { provenance, error },
  isLast,
}: {
  readonly answer: AssistantMessage
  readonly isLast: boolean
}): ReactNode {
  const [isOpen, setOpen] = useState(false)
  // The error of the last answer shows it among its details.
  if (provenance === undefined || (isLast && error !== undefined)) return null
  return (
    <details className="group/origin text-sm text-muted" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary
        className={
          'flex min-h-9 w-fit list-none flex-wrap items-center gap-x-2 rounded-md @lg:max-w-[calc(100%-8rem)] ' +
          'pointer-coarse:min-h-11 @lg:pointer-coarse:max-w-[calc(100%-9.5rem)] [&::-webkit-details-marker]:hidden'
        }
      >
        <TrailRow steps={stepsOf(provenance)} />
        <span className="inline-flex min-w-0 items-center gap-1 tabular-nums wrap-anywhere">
          {figuresOf(provenance) || say.common.details}
          <Icon name="chevron" className="size-4 transition-transform group-open/origin:rotate-180" />
        </span>
      </summary>
      {isOpen ? (
        <div className="my-1 rounded-xl border border-line px-4 py-3">
          <ProvenanceDetails provenance={provenance} />
        </div>
      ) : null}
    </details>
  )
}

interface ReasoningProps {
  readonly text: string
  readonly ms: number | undefined
  readonly isThinking: boolean
}

/** The model's reasoning, collapsed. */
function Reasoning({ text, ms, isThinking }: ReasoningProps): ReactNode {
  return (
    <details className="mb-3 text-sm text-muted">
      <summary className={`w-fit rounded-md py-1 ${isThinking ? 'animate-pulse' : ''}`}>
        {isThinking ? say.chat.thinking : ms === undefined ? say.chat.thoughts : say.chat.thought(secondsOf(ms))}
      </summary>
      <div className="mt-1 border-l-2 border-line pl-4">
        <Markdown text={text} isStreaming={isThinking} />
      </div>
    </details>
  )
}

function secondsOf(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 1) return say.chat.lessThanSecond
  return formatSeconds(seconds)
}
