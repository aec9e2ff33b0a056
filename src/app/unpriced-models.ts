import { matchesAny } from '../base/name-pattern.ts'
import { noDemand } from '../formats/demand.ts'
import type { OfferedModel } from '../formats/model.ts'
import type { Provider } from '../gateway/provider.ts'
import type { AccessLimit, AccessPolicy } from '../limits/access-policy.ts'
import { estimateOf } from '../limits/budgets/estimate.ts'
import type { Logger } from '../observe/log.ts'

const namedMax = 3

/** Models of a provider that a limit of money counts, although no price is known. */
export interface UnpricedModels {
  /** In the order of its list. */
  readonly names: readonly string[]
  /** A hard limit counts one of them: it is never asked. Otherwise they are asked last. */
  readonly areRefused: boolean
}

/** Undefined: there are none, or the list of models is not known yet. */
export function unpricedModels(policy: AccessPolicy | undefined, provider: Provider): UnpricedModels | undefined {
  const limits = policy?.limits.filter(
    ({ subject, usd }) =>
      usd !== undefined && usd.asksUnpriced !== true && (subject.kind !== 'provider' || subject.id === provider.id),
  )
  if (limits === undefined || limits.length === 0) return undefined
  const { id, models } = provider
  const unpriced = (models.current() ?? []).filter(({ upstream, price }) => {
    const { costOf } = price === undefined ? provider.candidate(upstream) : {}
    return price === undefined && estimateOf(noDemand, { costOf, maxOutput: 0, bytesPerToken: 1 }) === undefined
  })
  const counting = limits.filter((limit) => unpriced.some((model) => counts(limit, model, id)))
  const counted = unpriced.filter((model) => counting.some((limit) => counts(limit, model, id)))
  if (counted.length === 0) return undefined
  return { names: counted.map(({ name }) => name), areRefused: counting.some(({ usd }) => usd?.isHard === true) }
}

function counts({ models }: AccessLimit, { name, upstream, aliases }: OfferedModel, provider: string): boolean {
  return (
    models === undefined ||
    matchesAny(
      models.map((pattern) => pattern.toLowerCase()),
      [name, upstream, ...aliases, `${provider}/${name}`],
    )
  )
}

/** One warning for each provider with {@link unpricedModels}. */
export function unpricedWarnings(policy: AccessPolicy | undefined, providers: readonly Provider[]): readonly string[] {
  return providers.flatMap((provider) => {
    const { names = [], areRefused } = unpricedModels(policy, provider) ?? {}
    if (names.length === 0) return []
    const others = names.length > namedMax ? ` and ${names.length - namedMax} more` : ''
    const effect =
      areRefused === true ? 'requests are not sent there under a hard one' : 'other providers are asked first'
    return [
      `no price is known for ${names.slice(0, namedMax).join(', ')}${others} at ${provider.id}, and a limit of money ` +
        `counts them: ${effect}. Set "price" of the model or the provider in providers.json ` +
        '(0 where it costs nothing), or "unpriced": "ask" beside "usd" in access.json',
    ]
  })
}

/** Warns of {@link unpricedModels}, once the models of all providers are known, unless others replace them before. */
export async function warnOfUnpriced({ active, access, log }: PricedService): Promise<void> {
  const { providers } = active.gateway
  await Promise.all(providers.flatMap(({ models }) => models.pending ?? []))
  if (providers !== active.gateway.providers) return
  for (const warning of unpricedWarnings(access.policy(), providers)) log.warn(warning)
}

interface PricedService {
  readonly active: { readonly gateway: { readonly providers: readonly Provider[] } }
  readonly access: { policy(): AccessPolicy | undefined }
  readonly log: Pick<Logger, 'warn'>
}
