import type { Environment } from '../../config/file/resolve-provider.ts'
import { modelsListed } from '../../gateway/models-listed.ts'
import type { ProviderDraft, ProviderLook } from '../../http/page/page-api.ts'
import { assembleProvider, type Dependencies } from '../assemble.ts'
import { providerOfDraft } from './provider-drafts.ts'

const modelsMax = 1_000

/**
 * Asks a provider that is not in the file for its models. Nothing is written, and nothing counts for its health.
 *
 * @throws {WireError} 400 for a draft with faults
 */
export async function lookAtProvider(
  draft: ProviderDraft,
  { environment, dependencies, signal }: { environment: Environment; dependencies: Dependencies; signal: AbortSignal },
): Promise<ProviderLook> {
  const { models: _, ...whole } = draft
  const config = providerOfDraft(whole, environment)
  if (config.unavailable !== undefined) return { ms: 0, missing: config.unavailable }
  const { modelsCache: __, ...uncached } = dependencies
  const { provider, close } = assembleProvider(config, uncached)
  const started = performance.now()
  try {
    await modelsListed([provider], signal)
    const ms = Math.round(performance.now() - started)
    const found = provider.models.current()
    if (found === undefined) return { ms, why: provider.models.failure ?? 'no answer in time' }
    return { ms, modelCount: found.length, models: found.slice(0, modelsMax).map(({ upstream }) => upstream) }
  } finally {
    close()
  }
}
