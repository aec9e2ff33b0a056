import { matchesAny } from '../../src/base/name-pattern.ts'
import type { LimitEntry, LimitRowEntry, ModelEntry, ModelOffer, ProviderEntry } from '../../src/http/page/page-api.ts'
import { isKeyMissing } from '../providers/describe-provider.ts'

/** A limit of which nothing is left. */
export interface UsedUpLimit {
  /** Only of this provider's models. */
  readonly provider?: string
  /** As in access.json. Absent: all. */
  readonly models?: readonly string[]
}

/** Facts about models besides those of their offers. */
export interface ModelFacts {
  /** In their order. */
  readonly providers: readonly ProviderEntry[]
  readonly usedUp: readonly UsedUpLimit[]
}

/** A fact that keeps a model, or a provider of it, from answering. */
export type ModelBadge = 'keyMissing' | 'overLimit' | 'noPrice'

/** The used-up limits of all callers together, and of providers. Requests under way end soon, so they do not count. */
export function usedUpByAll(limits: readonly LimitRowEntry[]): readonly UsedUpLimit[] {
  return limits.flatMap(({ for: subject, kind, models, uses: [use] }) => {
    const provider = /^provider:(.+)$/.exec(subject)?.[1]
    const isOfAll = subject === 'everyone' || provider !== undefined
    if (!isOfAll || kind === 'at_once' || use === undefined || use.remaining > 0) return []
    return [{ ...(provider === undefined ? {} : { provider }), ...(models === undefined ? {} : { models }) }]
  })
}

/** The used-up limits that name the reader. The amounts of shared budgets are not known. */
export function usedUpByReader(limits: readonly LimitEntry[]): readonly UsedUpLimit[] {
  return limits
    .filter(({ kind, remaining }) => kind !== 'at_once' && remaining !== null && remaining <= 0)
    .map(({ models }) => (models === null ? {} : { models }))
}

/**
 * The models in the order of their providers, with those that would serve them if they had their key, which the service
 * does not list.
 */
export function withKeyless(models: readonly ModelEntry[], providers: readonly ProviderEntry[]): readonly ModelEntry[] {
  const keyless = providers.filter(({ state }) => isKeyMissing(state))
  if (keyless.length === 0) return models
  const places = new Map(providers.map(({ id }, place) => [id, place]))
  const placeOf = ({ provider }: ModelOffer): number => places.get(provider) ?? providers.length
  const found = new Map(models.map((model) => [model.name, model]))
  for (const { id, models: names = [] } of keyless)
    for (const name of names) {
      const known = found.get(name) ?? { name, offers: [] }
      const offers = [...known.offers, { provider: id, upstream: name }]
      found.set(name, { ...known, offers: offers.toSorted((one, other) => placeOf(one) - placeOf(other)) })
    }
  const firstOf = ({ offers: [first] }: ModelEntry): number => (first === undefined ? providers.length : placeOf(first))
  return [...found.values()].toSorted((one, other) => firstOf(one) - firstOf(other))
}

/** Describes models by facts that hold for all of them. */
export function badgesFrom({ providers, usedUp }: ModelFacts): (model: ModelEntry) => readonly ModelBadge[] {
  const keyless = new Map(
    providers.filter(({ state }) => isKeyMissing(state)).map(({ id, models = [] }) => [id, new Set(models)]),
  )
  const unpriced = new Set(providers.flatMap((provider) => provider.unpriced?.models ?? []))
  const limits = usedUp.map(({ provider, models }) => ({
    provider,
    models: models?.map((pattern) => pattern.toLowerCase()),
  }))
  return ({ name, offers }) => {
    const usable = offers.filter(({ provider }) => !keyless.has(provider))
    const isOver = ({ provider, upstream }: ModelOffer): boolean =>
      limits.some(
        (limit) =>
          (limit.provider ?? provider) === provider &&
          (limit.models === undefined || matchesAny(limit.models, [name, upstream, `${provider}/${name}`])),
      )
    return [
      ...([...keyless.values()].some((names) => names.has(name)) ? ['keyMissing' as const] : []),
      ...(usable.length > 0 && usable.every(isOver) ? ['overLimit' as const] : []),
      ...(unpriced.has(name) || (usable.length > 0 && usable.every(({ price }) => price === undefined))
        ? ['noPrice' as const]
        : []),
    ]
  }
}
