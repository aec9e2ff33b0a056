import type { ModelEntry } from '../../src/http/page/page-api.ts'
import { offersOf } from './offers.ts'

/** A model, and the longest context of its providers in tokens. */
export interface FittingModel {
  readonly name: string
  readonly context: number
}

const shownMax = 3

/**
 * Models with a known context longer than that of `asked`, in list order, at most three.
 *
 * @param asked name of the model whose context is exceeded
 * @param tokens lower bound of the conversation's length
 */
export function modelsThatFit(models: readonly ModelEntry[], asked: string, tokens: number): readonly FittingModel[] {
  const exceeded = Math.max(longestContext(offersOf(models, asked) ?? []), tokens)
  return models
    .filter(({ name, isHidden }) => isHidden !== true && name !== asked)
    .map(({ name, offers }) => ({ name, context: longestContext(offers) }))
    .filter(({ context }) => context > exceeded)
    .slice(0, shownMax)
}

/** 0 if unknown. */
function longestContext(offers: ModelEntry['offers']): number {
  return Math.max(0, ...offers.map(({ context = 0 }) => context))
}
