import type { OfferedModel } from '../formats/model.ts'
import type { ModelList } from './provider.ts'

const refreshMs = 10 * 60_000
const retryMsMin = 2_000
const retryMsMax = 5 * 60_000

/** Keeps a fetched list between starts. Implementations ignore failures to read and write: a cache may be absent. */
export interface ModelListCache {
  read(): Promise<readonly OfferedModel[] | undefined>
  write(models: readonly OfferedModel[]): Promise<void>
}

export interface LearnedModelsOptions {
  /** Fetches the list from the provider. */
  readonly fetchModels: (signal: AbortSignal) => Promise<readonly OfferedModel[]>
  readonly cache: ModelListCache
  /** Called after each fetch that failed. */
  readonly onFailure: (error: unknown) => void
}

/** A list that is fetched again and again until it is closed. */
export interface LearnedModels extends ModelList {
  close(): void
}

/**
 * A provider's own list of models. Starts with the cached list, if there is one, and fetches every 10 minutes in the
 * background. After a failure it keeps the last list and retries after 2 s, doubling to 5 minutes.
 */
export function learnedModels({ fetchModels, cache, onFailure }: LearnedModelsOptions): LearnedModels {
  const controller = new AbortController()
  let models: readonly OfferedModel[] | undefined
  let version = 0
  let timer: Timer | undefined
  let retryMs = retryMsMin
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
      retryMs = retryMsMin
      schedule(refreshMs)
      await cache.write(list)
    } catch (error) {
      if (controller.signal.aborted) return
      failure = error instanceof Error ? error.message : String(error)
      onFailure(error)
      schedule(retryMs)
      retryMs = Math.min(retryMs * 2, retryMsMax)
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
