import type { ReactNode } from 'react'
import type { ModelEntry } from '../../src/http/page/page-api.ts'
import { spokenPrice } from '../models/describe-model.ts'
import { orderSteps } from '../providers/order-steps.ts'
import { useProviders } from '../providers/use-providers.ts'
import { say } from '../texts/say.ts'
import { TrailRow } from '../ui/trail-row.tsx'

const refreshMs = 30_000

/** Which providers a question to a model goes to, in their order and with their state, and the price of the first. */
export function GoesTo({ model: { name, offers } }: { readonly model: ModelEntry }): ReactNode {
  const { answer, error } = useProviders(refreshMs)
  const states = new Map(answer?.providers.map((provider) => [provider.id, provider]))
  const steps = orderSteps(name, offers, states)
  const first = offers[steps.findIndex(({ kind }) => kind === 'next')]
  // Its height is there before its words, so that nothing moves.
  return (
    <p className="flex min-h-6 flex-wrap items-center justify-center gap-x-2 gap-y-1 text-sm text-muted">
      {answer === undefined && error === undefined ? null : (
        <>
          {say.chat.goesTo}
          <span className="inline-flex items-center gap-x-2">
            <TrailRow isQuiet steps={steps} />
            {first?.price === undefined ? null : <span>·</span>}
          </span>
          {first?.price === undefined ? null : <span className="tabular-nums">{spokenPrice(first.price)}</span>}
        </>
      )}
    </p>
  )
}
