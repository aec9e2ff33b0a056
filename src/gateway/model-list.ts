import type { ModelList, OfferedModel } from './provider.ts'

const refreshMs = 10 * 60_000
const retryMsFirst = 2_000
const retryMsMost = 5 * 60_000

/**
 * Where a learned list is kept between starts. Failures to read or write are the implementation's to swallow: a cache
 * may be absent.
 */
export interface ModelListCache {
  read(): Promise<readonly OfferedModel[] | undefined>
  write(models: readonly OfferedModel[]): Promise<void>
}

/** What {@link learnedModels} needs. */
export interface LearnedModelsOptions {
  /** Asks the provider. */
  readonly fetchModels: (signal: AbortSignal) => Promise<readonly OfferedModel[]>
  readonly cache: ModelListCache
  /** Told of every failed attempt to learn the list. */
  readonly onFailure: (error: unknown) => void
}

/** A list that is being kept up to date. */
export interface LearnedModels extends ModelList {
  close(): void
}

/**
 * A provider's own list of models: from the cache at once where there is one, asked for in the background, every 10
 * minutes; after a failure again in 2 s, doubling to 5 minutes, while the last known list stays.
 */
export function learnedModels({ fetchModels, cache, onFailure }: LearnedModelsOptions): LearnedModels {
  const controller = new AbortController()
  let models: readonly OfferedModel[] | undefined
  let version = 0
  let timer: Timer | undefined
  let retryMs = retryMsFirst
  let failure: string | undefined
  let pending: Promise<void> | undefined = begin()

  async function begin(): Promise<void> {
    const cached = await cache.read()
    if (cached !== undefined) take(cached)
    const refreshed = refresh()
    if (cached === undefined) await refreshed
    pending = undefined
  }

  function take(list: readonly OfferedModel[]): void {
    models = list
    version += 1
  }

  async function refresh(): Promise<void> {
    try {
      const list = await fetchModels(controller.signal)
      if (controller.signal.aborted) return
      take(list)
      failure = undefined
      retryMs = retryMsFirst
      schedule(refreshMs)
      await cache.write(list)
    } catch (error) {
      if (controller.signal.aborted) return
      failure = error instanceof Error ? error.message : String(error)
      onFailure(error)
      schedule(retryMs)
      retryMs = Math.min(retryMs * 2, retryMsMost)
    }
  }

  function schedule(ms: number): void {
    timer = setTimeout(() => void refresh(), ms)
    timer.unref()
  }

  return {
    current: () => models,
    get version() {
      return version
    },
    get pending() {
      return pending
    },
    get failure() {
      return failure
    },
    close() {
      controller.abort()
      clearTimeout(timer)
    },
  }
}
