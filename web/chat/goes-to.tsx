import type { ReactNode } from 'react'
import type { ModelEntry, ProviderEntry } from '../../src/http/page/page-api.ts'
import { spokenPrice } from '../models/describe-model.ts'
import { useProviders } from '../providers/use-providers.ts'
import { say } from '../texts/say.ts'
import { TrailRow } from '../ui/trail-row.tsx'
import { failureInWords, type TrailStep } from '../ui/trail-steps.ts'

const refreshMs = 30_000
const shownMax = 6

/** Which providers a question to a model goes to, in their order and with their state, and the price of the first. */
export function GoesTo({ model: { name, offers } }: { readonly model: ModelEntry }): ReactNode {
  const { answer, error } = useProviders(refreshMs)
  const states = new Map(answer?.providers.map((provider) => [provider.id, provider]))
  const steps = offers.map(({ provider }, index) => stepOf(provider, index + 1, name, states.get(provider)))
  const first = offers[steps.findIndex(({ kind }) => kind === 'next')]
  const others = steps.length - shownMax
  // Its height is there before its words, so that nothing moves.
  return (
    <p className="flex min-h-6 flex-wrap items-center justify-center gap-x-2 gap-y-1 text-sm text-muted">
      {answer === undefined && error === undefined ? null : (
        <>
          {say.chat.goesTo}
          <TrailRow
            isQuiet
            steps={others > 0 ? [...steps.slice(0, shownMax), { kind: 'more', count: others }] : steps}
          />
          {first?.price === undefined ? null : <span className="tabular-nums">· {spokenPrice(first.price)}</span>}
        </>
      )}
    </p>
  )
}

function stepOf(id: string, place: number, model: string, provider: ProviderEntry | undefined): TrailStep {
  const reason = provider === undefined ? undefined : reasonOf(provider, model)
  return reason === undefined ? { kind: 'next', provider: id, place } : { kind: 'failed', provider: id, reason }
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
      return state.lacks.some(({ code }) => code === 'unset') ? say.failures.keyMissing : say.failures.notUsable
  }
}
