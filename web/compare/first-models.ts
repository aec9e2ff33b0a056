import type { ModelsState } from '../models/models-store.ts'
import { isOffered } from '../models/offers.ts'

/** Returns the models of a new comparison: the two used last, else the first ones of the list. */
export function firstModels(
  state: ModelsState,
  recent: readonly string[],
): readonly [string | undefined, string | undefined] {
  if (state.kind !== 'ready') return [recent[0], recent[1]]
  const { models, firstModel } = state.answer
  const names = [
    ...recent.filter((name) => isOffered(models, name)),
    ...(firstModel === undefined ? [] : [firstModel]),
    ...models.filter(({ isHidden }) => isHidden !== true).map(({ name }) => name),
  ]
  const [first, second] = new Set(names)
  return [first, second]
}
