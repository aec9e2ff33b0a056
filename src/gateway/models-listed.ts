import type { Provider } from './provider.ts'

const listsMs = 10_000

/** Resolves after the first fetch of each provider's models, after 10 s, or when the signal aborts. */
export async function modelsListed(providers: readonly Provider[], signal: AbortSignal): Promise<void> {
  const pending = providers.flatMap(({ models }) => models.pending ?? [])
  if (pending.length === 0 || signal.aborted) return
  const enough = Promise.withResolvers<void>()
  const timer = setTimeout(enough.resolve, listsMs)
  signal.addEventListener('abort', () => enough.resolve(), { once: true })
  await Promise.race([Promise.all(pending), enough.promise])
  clearTimeout(timer)
}
