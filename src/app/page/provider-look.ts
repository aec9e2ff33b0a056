import type { ProviderConfig } from '../../config/config.ts'
import { modelsListed } from '../../gateway/models-listed.ts'
import type { ProviderLook } from '../../http/page/page-api.ts'
import { assembleProvider, type Dependencies } from '../assemble.ts'

const modelsMax = 1_000

/** Asks a provider that is not in use for its models. Nothing is written, and nothing counts for its health. */
export async function lookAtProvider(
  config: ProviderConfig,
  { dependencies, signal }: { dependencies: Dependencies; signal: AbortSignal },
): Promise<ProviderLook> {
  if (config.lacks !== undefined) return { ms: 0, lacks: config.lacks }
  const { modelsCache: _, ...uncached } = dependencies
  const { provider, close } = assembleProvider(config, uncached)
  const started = performance.now()
  try {
    await modelsListed([provider], signal)
    const ms = Math.round(performance.now() - started)
    const found = provider.models.current()
    if (found === undefined) {
      const { failure } = provider.models
      return { ms, ...(failure === undefined ? {} : { detail: failure }) }
    }
    return { ms, modelCount: found.length, models: found.slice(0, modelsMax).map(({ upstream }) => upstream) }
  } finally {
    close()
  }
}
