import type { ReactNode } from 'react'
import type { AssistantMessage } from '../history/conversation.ts'
import { formatContext } from '../models/describe-model.ts'
import { modelsThatFit } from '../models/models-that-fit.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { Button } from '../ui/button.tsx'
import type { MessageActions } from './message-actions.ts'

/** Average for English. */
const charactersPerToken = 4

/** Props of {@link ModelsThatFit}. */
export interface ModelsThatFitProps {
  /** The answer that failed because the conversation exceeds the model's context. */
  readonly answer: AssistantMessage
  readonly actions: Pick<MessageActions, 'asked' | 'retryAs'>
}

/** Buttons for models with a larger context; pressing one retries with it. Empty if no such model is known. */
export function ModelsThatFit({ answer, actions }: ModelsThatFitProps): ReactNode {
  const { models } = useServices()
  const state = useStore(models.state)
  if (state.kind !== 'ready') return null
  const { model = '', characters } = actions.asked(answer.id)
  return modelsThatFit(state.answer.models, model, characters / charactersPerToken).map(({ name, context }, index) => (
    <Button key={name} variant={index === 0 ? 'primary' : 'plain'} onClick={() => actions.retryAs(name)}>
      <span className="min-w-0">
        <bdi>Ask {name}</bdi> ({formatContext(context)} tokens)
      </span>
    </Button>
  ))
}
