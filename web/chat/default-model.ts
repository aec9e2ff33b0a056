import { isOffered } from '../models/describe-model.ts'
import type { ModelsState } from '../models/models-store.ts'

/**
 * What a new conversation asks: the model that was used last, if it is there still, else the first in the list. While
 * there is no list: the one used last.
 */
export function defaultModel(state: ModelsState, recent: readonly string[]): string | undefined {
  if (state.kind !== 'ready') return recent[0]
  const { models } = state.answer
  return recent.find((name) => isOffered(models, name)) ?? models[0]?.name
}
