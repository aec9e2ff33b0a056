import { useState, type ReactNode } from 'react'
import type { AssistantMessage, TokenLogprob } from '../history/conversation.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { say } from '../texts/say.ts'
import { lazily } from '../ui/lazily.tsx'
import { AnswerEnd } from './answer-end.tsx'
import { AnswerTools } from './answer-tools.tsx'
import { hasContent } from './conversation-changes.ts'
import type { MessageActions } from './message-actions.ts'
import { ProvenanceLine } from './provenance-line.tsx'
import { Reasoning } from './reasoning.tsx'
import { Waiting } from './waiting.tsx'

const ToolCards = lazily(async () => (await import('./tool-cards.tsx')).ToolCards)
const LogprobsView = lazily(async () => (await import('./chat-tools.ts')).LogprobsView)

/** Props of {@link AnswerView}. */
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
  return (
    <div className="group/answer min-w-0">
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
      {isStreaming && !hasContent(answer) ? <Waiting /> : null}
      {isStreaming ? null : (
        <>
          {answer.status !== 'interrupted' || isAnsweredElsewhere === false ? (
            <AnswerEnd answer={answer} isLast={isLast} actions={actions} />
          ) : isAnsweredElsewhere ? (
            <p className="mt-2 text-sm text-muted">{say.chat.answeredElsewhere}</p>
          ) : null}
          {answer.logprobs === undefined ? null : <Probabilities logprobs={answer.logprobs} />}
          <div className="mt-1 flex flex-col sm:flex-row sm:items-start sm:justify-between sm:gap-2">
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
