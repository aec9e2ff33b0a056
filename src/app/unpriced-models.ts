import type { Provider } from '../gateway/provider.ts'
import type { AccessPolicy } from '../limits/access-policy.ts'

const namedMax = 3

/**
 * Warnings of models without a price that a limit of money counts: their providers are asked only if no other can
 * answer. Lists that are not known yet are left out.
 */
export function unpricedWarnings(
  policy: AccessPolicy | undefined,
  providers: readonly Pick<Provider, 'id' | 'models'>[],
): readonly string[] {
  const counting = (policy?.limits ?? []).filter(({ usd }) => usd !== undefined && usd.asksUnpriced !== true)
  return providers.flatMap(({ id, models }) => {
    const isCounted = counting.some(({ subject }) => subject.kind !== 'provider' || subject.id === id)
    const unpriced = isCounted ? (models.current() ?? []).filter(({ price }) => price === undefined) : []
    if (unpriced.length === 0) return []
    const named = unpriced.slice(0, namedMax).map(({ name }) => name)
    const others = unpriced.length > namedMax ? ` and ${unpriced.length - namedMax} more` : ''
    return [
      `no price is known for ${named.join(', ')}${others} at ${id}, and a limit of money counts requests there: ` +
        'other providers are asked first. Set "price" of the model or the provider (0 where it costs nothing), ' +
        'or "unpriced": "ask" beside "usd"',
    ]
  })
}
