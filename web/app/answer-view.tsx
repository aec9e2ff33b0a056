import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import type { AnswerState } from '../ui/use-answer.ts'
import { View, type ViewProps } from './view.tsx'

export interface AnswerViewProps<Answer> extends Pick<ViewProps, 'title' | 'within' | 'about' | 'actions'> {
  readonly state: AnswerState<Answer>
  /** Shows the answer. */
  readonly children: (answer: Answer) => ReactNode
}

/** A view of one answer, with a notice when it did not come. */
export function AnswerView<Answer>({ state, children, ...frame }: AnswerViewProps<Answer>): ReactNode {
  const { answer, error, reload } = state
  return (
    <View {...frame}>
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
    </View>
  )
}
