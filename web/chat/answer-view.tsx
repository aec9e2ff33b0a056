import { useState, type ReactNode } from 'react'
import type { AssistantMessage, TokenLogprob } from '../history/conversation.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { lazily } from '../ui/lazily.tsx'
import { AnswerEnd } from './answer-end.tsx'
import { AnswerTools } from './answer-tools.tsx'
import type { MessageActions } from './message-actions.ts'
import { ProvenanceLine } from './provenance-line.tsx'
import { Reasoning } from './reasoning.tsx'
import { Waiting } from './waiting.tsx'

const LogprobsView = lazily(async () => (await import('./logprobs-view.tsx')).LogprobsView, {
  waiting: <p className="text-muted">Loading…</p>,
})

/** What {@link AnswerView} shows. */
export interface AnswerViewProps {
  readonly answer: AssistantMessage
  readonly isLast: boolean
  readonly isElsewhere: boolean
  readonly actions: MessageActions
}

/**
 * What a model answered: what it thought, the text while it grows, how it ended, where it comes from. Nothing is made
 * anew when it ends.
 */
export function AnswerView({ answer, isLast, isElsewhere, actions }: AnswerViewProps): ReactNode {
  const isStreaming = answer.status === 'streaming'
  return (
    <div className="group/answer min-w-0">
      <h2 className="sr-only">Answer</h2>
      {answer.reasoning === '' ? null : (
        <Reasoning text={answer.reasoning} ms={answer.reasoningMs} isThinking={isStreaming && answer.text === ''} />
      )}
      {answer.text === '' ? null : (
        <div className={isStreaming ? caret : undefined}>
          <Markdown text={answer.text} isStreaming={isStreaming} />
        </div>
      )}
      {isStreaming && answer.text === '' && answer.reasoning === '' ? <Waiting /> : null}
      {isStreaming ? null : (
        <>
          {isElsewhere ? (
            <p className="mt-2 text-sm text-muted">It is being answered in another tab.</p>
          ) : (
            <AnswerEnd answer={answer} isLast={isLast} actions={actions} />
          )}
          {answer.logprobs === undefined ? null : <Probabilities logprobs={answer.logprobs} />}
          <div className="mt-1 flex flex-col sm:flex-row sm:items-start sm:justify-between sm:gap-2">
            {answer.provenance === undefined ? (
              <span />
            ) : (
              <ProvenanceLine provenance={answer.provenance} isFailed={answer.error !== undefined} />
            )}
            <AnswerTools answer={answer} isLast={isLast} actions={actions} />
          </div>
        </>
      )}
    </div>
  )
}

/** After the last word of the last block. */
const caret =
  '[&>div>:last-child>:last-child]:after:ml-1 [&>div>:last-child>:last-child]:after:inline-block [&>div>:last-child>:last-child]:after:h-4 [&>div>:last-child>:last-child]:after:w-2 [&>div>:last-child>:last-child]:after:animate-pulse [&>div>:last-child>:last-child]:after:rounded-xs [&>div>:last-child>:last-child]:after:bg-accent [&>div>:last-child>:last-child]:after:align-text-bottom'

/** Folded, and not made before it is opened. */
function Probabilities({ logprobs }: { readonly logprobs: readonly TokenLogprob[] }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="mt-2 text-sm" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit rounded-md py-1 text-muted">Probabilities of the tokens</summary>
      {isOpen ? <LogprobsView logprobs={logprobs} /> : null}
    </details>
  )
}
