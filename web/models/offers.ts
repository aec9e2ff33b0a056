import type { ModelEntry, ModelOffer } from '../../src/http/page/page-api.ts'

/** Whether a name is a listed model, or a listed model pinned to a provider (`groq/llama`). Ignores case. */
export function isOffered(models: readonly ModelEntry[], name: string): boolean {
  return offersOf(models, name) !== undefined
}

/**
 * Returns the offers for a name: of a model, or of one provider (`groq/llama`). Ignores case. `undefined` if the name
 * is not listed.
 */
export function offersOf(models: readonly ModelEntry[], name: string): readonly ModelOffer[] | undefined {
  const wanted = name.toLowerCase()
  const named = models.find((model) => model.name.toLowerCase() === wanted)
  if (named !== undefined) return named.offers
  for (const model of models) {
    const known = model.name.toLowerCase()
    const offer = wanted.endsWith(`/${known}`)
      ? model.offers.find(({ provider }) => `${provider}/${known}` === wanted)
      : undefined
    if (offer !== undefined) return [offer]
  }
  return undefined
}
