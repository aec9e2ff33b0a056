import { useMemo } from 'react'
import type { LimitsAnswer, OwnLimitsAnswer, ProviderEntry } from '../../src/http/page/page-api.ts'
import { useProviders } from '../providers/use-providers.ts'
import { useServices } from '../services.ts'
import { useLoaded, useReloads } from '../ui/use-answer.ts'
import { usedUpByAll, usedUpByReader, type ModelFacts, type UsedUpLimit } from './model-facts.ts'

const refreshMs = 30_000
const noProviders: readonly ProviderEntry[] = []
const noLimits: readonly UsedUpLimit[] = []

/**
 * Loads the facts about models that the reader may know. What cannot be read is left out.
 *
 * @param whose the limits of all callers together, for owners, or those that name the reader, too
 */
export function useModelFacts(whose: 'all' | 'reader'): ModelFacts {
  const { boot } = useServices()
  const { answer } = useProviders(refreshMs)
  const { answer: usedUp = noLimits, reload } = useLoaded(async (client, signal) => {
    const [all, own] = await Promise.all([
      boot.hasLimits === true ? client.get<LimitsAnswer>('/api/limits', signal).catch(() => undefined) : undefined,
      whose === 'reader' ? client.get<OwnLimitsAnswer>('/v1/key', signal).catch(() => undefined) : undefined,
    ])
    return [...usedUpByAll(all?.limits ?? []), ...usedUpByReader(own?.limits ?? [])]
  }, whose)
  useReloads(reload, refreshMs)
  const providers = answer?.providers ?? noProviders
  return useMemo(() => ({ providers, usedUp }), [providers, usedUp])
}
