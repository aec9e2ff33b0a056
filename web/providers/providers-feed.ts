import type {
  ProviderChange,
  ProvidersAnswer,
  ProviderTest,
  ProviderTestRequest,
  WantedProviderChange,
} from '../../src/http/page/page-api.ts'
import { ApiError, type ApiClient } from '../api/client.ts'
import { createStore, type Store } from '../store.ts'
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
export interface ProvidersFeed {
  readonly state: Store<ProvidersState>
  /** Loads the providers. Never rejects: see {@link ProvidersState.error}. */
  refresh(): Promise<void>
  /**
   * Changes the shown file, after running changes. If one of these fails, this change is not made. Never rejects.
   * Without a file, only `add` works, which writes the first one.
   *
   * @param base version of the file that the change is made for. Default: that of the last answer
   */
  change(wanted: WantedProviderChange, base?: string): Promise<ChangeOutcome>
  /** Tests a provider with a request for one token. Never rejects. */
  test(id: string): Promise<ProviderTest>
}

/** Creates a feed. @param now Unix milliseconds */
export function providersFeed(client: Pick<ApiClient, 'get' | 'post'>, now: () => number = Date.now): ProvidersFeed {
  const state = createStore<ProvidersState>({})
  let asked = 0,
    taken = 0
  let running: Promise<ChangeOutcome> | undefined

  /** Requests an answer. It is ignored if a later request was answered first, so changes do not flicker back. */
  async function accept(ask: () => Promise<ProvidersAnswer>): Promise<Error | undefined> {
    const number = ++asked
    try {
      const answer = await ask()
      if (number > taken) {
        taken = number
        state.set({ answer, time: now() })
      }
      return undefined
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  async function refresh(): Promise<void> {
    const error = await accept(() => client.get('/api/providers'))
    if (error !== undefined) state.update((known) => ({ ...known, error }))
  }

  async function submit(wanted: WantedProviderChange, base?: string): Promise<ChangeOutcome> {
    const version = base ?? state.get().answer?.version ?? (wanted.change === 'add' ? 'missing' : undefined)
    if (version === undefined) return { kind: 'failed', error: new Error(say.providers.noFile) }
    const change: ProviderChange = { version, ...wanted }
    const error = await accept(() => client.post('/api/providers', change))
    if (error === undefined) return { kind: 'done' }
    if (!(error instanceof ApiError) || error.code !== 'conflict') return { kind: 'failed', error }
    await refresh()
    return { kind: 'conflict' }
  }

  return {
    state,
    refresh,
    async change(wanted, base) {
      // Expects the file as the running change will leave it, so pressing a button twice causes no conflict.
      const change =
        running === undefined
          ? submit(wanted, base)
          : running.then((before) => (before.kind === 'done' ? submit(wanted, base) : before))
      running = change
      const outcome = await change
      if (running === change) running = undefined
      return outcome
    },
    async test(id) {
      const started = now()
      try {
        const wanted: ProviderTestRequest = { id }
        return await client.post<ProviderTest>('/api/providers/test', wanted)
      } catch (error) {
        return { ok: false, ms: now() - started, failure: error instanceof Error ? error.message : String(error) }
      }
    },
  }
}
