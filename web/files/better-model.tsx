import type { ReactNode } from 'react'
import type { Draft } from '../history/conversation.ts'
import { formatContext, takesImages } from '../models/describe-model.ts'
import { modelsThatFit } from '../models/models-that-fit.ts'
import { offersOf } from '../models/offers.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { tokensOf } from './file-blocks.ts'

export interface BetterModelProps {
  readonly draft: Draft
  readonly model: string | undefined
  readonly onModel: (name: string) => void
}

/** Says when the model is known not to take what is attached, and offers one that does. */
export function BetterModel({ draft, model, onModel }: BetterModelProps): ReactNode {
  const { models } = useServices()
  const state = useStore(models.state)
  if (state.kind !== 'ready' || model === undefined) return null
  const all = state.answer.models
  const offers = offersOf(all, model) ?? []
  const tokens = (draft.files ?? []).reduce((sum, { text }) => sum + tokensOf(text), tokensOf(draft.text))
  const readsNoPictures = offers.length > 0 && offers.every(({ input }) => input?.includes('image') === false)
  const contexts = offers.map(({ context }) => context)
  const isTooLong = contexts.length > 0 && contexts.every((context) => context !== undefined && context < tokens)
  const isBlind = draft.images.length > 0 && readsNoPictures
  if (!isBlind && !isTooLong) return null
  const fitting = isTooLong ? modelsThatFit(all, model, tokens).map(({ name }) => name) : undefined
  const better = all.find(
    (entry) =>
      entry.isHidden !== true &&
      entry.name !== model &&
      (!isBlind || takesImages(entry)) &&
      (fitting === undefined || fitting.includes(entry.name)),
  )
  const reason = isBlind
    ? say.files.isBlind
    : say.files.takes(formatContext(Math.max(...contexts.map((context = 0) => context))), formatContext(tokens))
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 px-4 pt-2 text-sm">
      <p className="min-w-0 flex-1">
        <bdi>{model}</bdi> {reason}
        {better === undefined ? say.files.noOther : '.'}
      </p>
      {better === undefined ? null : (
        <Button onClick={() => onModel(better.name)}>
          <span className="min-w-0 truncate">{rich(say.files.use, { model: <bdi>{better.name}</bdi> })}</span>
        </Button>
      )}
    </div>
  )
}
