import type { ModelOffer, ProviderEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { failureInWords, type TrailStep } from '../ui/trail-steps.ts'

const shownMax = 6

/** The providers of a model in their order, each with its place, or with the reason why it will not answer. */
export function orderSteps(
  model: string,
  offers: readonly Pick<ModelOffer, 'provider'>[],
  states: ReadonlyMap<string, ProviderEntry>,
): readonly TrailStep[] {
  const steps = offers.slice(0, shownMax).map(({ provider: id }, index): TrailStep => {
    const provider = states.get(id)
    const reason = provider === undefined ? undefined : reasonOf(provider, model)
    return reason === undefined
      ? { kind: 'next', provider: id, place: index + 1 }
      : { kind: 'failed', provider: id, reason }
  })
  const others = offers.length - shownMax
  return others > 0 ? [...steps, { kind: 'more', count: others }] : steps
}

/** Why a provider will probably not answer; `undefined`: it will. */
export function reasonOf({ state, coolingModels }: ProviderEntry, model: string): string | undefined {
  switch (state.kind) {
    case 'ok':
      return coolingModels.includes(model) ? say.failures.busy : undefined
    case 'cooling':
      return state.failure === undefined ? say.failures.busy : failureInWords(state.failure)
    case 'failing':
      return failureInWords(state.failure)
    case 'off':
      return say.failures.off
    case 'unavailable':
      return state.lacks.some(({ isKey }) => isKey === true) ? say.failures.keyMissing : say.failures.notUsable
  }
}
