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
export function learnedModels(options: LearnedModelsOptions): LearnedModels {
  return new FetchedModels(options)
}

class FetchedModels implements LearnedModels {
  readonly #cache: ModelListCache
  readonly #fetchModels: (signal: AbortSignal) => Promise<readonly OfferedModel[]>
  readonly #onFailure: (error: unknown) => void
  readonly #controller = new AbortController()
  #models: readonly OfferedModel[] | undefined
  #version = 0
  #timer: Timer | undefined
  #retryMs = retryMsMin
  #failure: Error | undefined
  #pending: Promise<void> | undefined

  constructor({ fetchModels, cache, onFailure }: LearnedModelsOptions) {
    this.#cache = cache
    this.#fetchModels = fetchModels
    this.#onFailure = onFailure
    this.#pending = this.#begin()
  }

  current(): readonly OfferedModel[] | undefined {
    return this.#models
  }

  get version() {
    return this.#version
  }

  get pending() {
    return this.#pending
  }

  get failure() {
    return this.#failure
  }

  close(): void {
    this.#controller.abort()
    clearTimeout(this.#timer)
  }

  async #begin(): Promise<void> {
    const cached = await this.#cache.read()
    if (cached !== undefined) this.#take(cached)
    const refreshed = this.#refresh()
    if (cached === undefined) await refreshed
    this.#pending = undefined
  }

  #take(list: readonly OfferedModel[]): void {
    this.#models = list
    this.#version += 1
  }

  async #refresh(): Promise<void> {
    try {
      const list = await this.#fetchModels(this.#controller.signal)
      if (this.#controller.signal.aborted) return
      this.#take(list)
      this.#failure = undefined
      this.#retryMs = retryMsMin
      this.#schedule(refreshMs)
      await this.#cache.write(list)
    } catch (error) {
      if (this.#controller.signal.aborted) return
      this.#failure = error instanceof Error ? error : new Error(String(error))
      this.#onFailure(error)
      this.#schedule(this.#retryMs)
      this.#retryMs = Math.min(this.#retryMs * 2, retryMsMax)
    }
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => void this.#refresh(), ms)
    this.#timer.unref()
  }
}
