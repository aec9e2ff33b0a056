import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { Button } from './button.tsx'
import { Loading } from './loading.tsx'
import { Notice } from './notice.tsx'
import type { AnswerState } from './use-answer.ts'

export interface ViewFrameProps<Answer> {
  readonly title: string
  /** Below the title. */
  readonly about: ReactNode
  /** Buttons and links beside the title. */
  readonly actions?: ReactNode
  readonly state: AnswerState<Answer>
  /** Shows the answer. */
  readonly children: (answer: Answer) => ReactNode
}

/** A view of one answer: heading, a button that asks again, and a notice when that failed. */
export function ViewFrame<Answer>({ title, about, actions, state, children }: ViewFrameProps<Answer>): ReactNode {
  const { answer, error, reload } = state
  return (
    <div className="@container mx-auto flex max-w-5xl flex-col gap-4 p-4">
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 [overflow-wrap:anywhere]">
          <h1 className="text-xl font-semibold">{title}</h1>
          <p className="text-sm text-muted">{about}</p>
        </div>
        <div className="flex flex-wrap gap-2">
          {actions}
          <Button icon="retry" onClick={reload}>
            {say.common.reload}
          </Button>
        </div>
      </header>
      {error === undefined ? null : (
        <Notice
          kind={answer === undefined ? 'error' : 'warn'}
          title={say.ui.cannotBeShown}
          actions={<Button onClick={reload}>{say.common.tryAgain}</Button>}
        >
          {error}
        </Notice>
      )}
      {answer === undefined ? error === undefined ? <Loading /> : null : children(answer)}
    </div>
  )
}
