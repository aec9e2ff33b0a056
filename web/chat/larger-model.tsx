import type { ReactNode } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { formatContext } from '../models/describe-model.ts'
import { modelsThatFit } from '../models/models-that-fit.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import type { MessageActions } from './message-actions.ts'

/** Average for English. */
const charactersPerToken = 4

/** Props of {@link LargerModel}. */
export interface LargerModelProps {
  /** The answer that failed because the conversation exceeds the model's context. */
  readonly answer: AssistantMessage
  readonly actions: Pick<MessageActions, 'asked' | 'editQuestion' | 'retryAs'>
}

/** Button that retries with a model of a larger context. If no such model is known, one that edits the message. */
export function LargerModel({ answer, actions }: LargerModelProps): ReactNode {
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
