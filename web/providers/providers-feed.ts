import type {
  ProviderChange,
  ProvidersAnswer,
  ProviderTest,
  ProviderTestRequest,
  WantedProviderChange,
} from '../../src/http/page/page-api.ts'
import { ApiError, type ApiClient } from '../api/client.ts'
import { messageOf } from '../message-of.ts'
import { createStore } from '../store.ts'
import { say } from '../texts/say.ts'

/** State of the providers view. */
export interface ProvidersState {
  /** The last answer. It stays while the service cannot be reached. */
  readonly answer?: ProvidersAnswer
  /** Time of the last answer, in Unix milliseconds. */
  readonly time?: number
  /** Why the last refresh failed. */
  readonly error?: Error
}

/** Outcome of a change. `conflict`: the file was changed since it was shown. It is unchanged by this, and now shown. */
export type ChangeOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'failed'; readonly error: Error }

/** The service's providers, and changes to them. */
export class ProvidersFeed {
  readonly state = createStore<ProvidersState>({})
  readonly #client: Pick<ApiClient, 'get' | 'post'>
  readonly #now: () => number
  #asked = 0
  #taken = 0
  #running: Promise<ChangeOutcome> | undefined

  /** @param now Unix milliseconds */
  constructor(client: Pick<ApiClient, 'get' | 'post'>, now: () => number = Date.now) {
    this.#client = client
    this.#now = now
  }

  /** Loads the providers. Never rejects: see {@link ProvidersState.error}. */
  async refresh(): Promise<void> {
    const error = await this.#accept(() => this.#client.get('/api/providers'))
    if (error !== undefined) this.state.update((known) => ({ ...known, error }))
  }

  /**
   * Changes the shown file, after running changes. If one of these fails, this change is not made. Never rejects.
   * Without a file, only `add` works, which writes the first one.
   *
   * @param base version of the file that the change is made for. Default: that of the last answer
   */
  async change(wanted: WantedProviderChange, base?: string): Promise<ChangeOutcome> {
    // Expects the file as the running change will leave it, so pressing a button twice causes no conflict.
    const change =
      this.#running === undefined
        ? this.#submit(wanted, base)
        : this.#running.then((before) => (before.kind === 'done' ? this.#submit(wanted, base) : before))
    this.#running = change
    const outcome = await change
    if (this.#running === change) this.#running = undefined
    return outcome
  }

  /** Tests a provider with a request for one token. Never rejects. */
  async test(id: string): Promise<ProviderTest> {
    const started = this.#now()
    try {
      const wanted: ProviderTestRequest = { id }
      return await this.#client.post<ProviderTest>('/api/providers/test', wanted)
    } catch (error) {
      return { ok: false, ms: this.#now() - started, failure: messageOf(error) }
    }
  }

  /** Requests an answer. It is ignored if a later request was answered first, so changes do not flicker back. */
  async #accept(ask: () => Promise<ProvidersAnswer>): Promise<Error | undefined> {
    const number = ++this.#asked
    try {
      const answer = await ask()
      if (number > this.#taken) {
        this.#taken = number
        this.state.set({ answer, time: this.#now() })
      }
      return undefined
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  async #submit(wanted: WantedProviderChange, base?: string): Promise<ChangeOutcome> {
    const version = base ?? this.state.get().answer?.version ?? (wanted.change === 'add' ? 'missing' : undefined)
    if (version === undefined) return { kind: 'failed', error: new Error(say.providers.noFile) }
    const change: ProviderChange = { version, ...wanted }
    const error = await this.#accept(() => this.#client.post('/api/providers', change))
    if (error === undefined) return { kind: 'done' }
    if (!(error instanceof ApiError) || error.code !== 'conflict') return { kind: 'failed', error }
    await this.refresh()
    return { kind: 'conflict' }
  }
}
