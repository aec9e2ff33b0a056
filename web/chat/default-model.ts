import type { ModelsState } from '../models/models-store.ts'
import { isOffered } from '../models/offers.ts'

/**
 * The model of a new conversation: the last used one if it is available, else the first chat model. Until the list has
 * loaded: the last used one.
 */
export function defaultModel(state: ModelsState, recent: readonly string[]): string | undefined {
  if (state.kind !== 'ready') return recent[0]
  const { models, firstModel } = state.answer
  return recent.find((name) => isOffered(models, name)) ?? firstModel
}
