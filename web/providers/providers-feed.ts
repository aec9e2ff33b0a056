import type { ProviderChange, ProvidersAnswer, ProviderTest, ProviderTestRequest } from '../../src/http/page-api.ts'
import { ApiError, type ApiClient } from '../api/client.ts'
import { createStore, type Store } from '../store.ts'

/** What is known of the providers. */
export interface ProvidersState {
  /** What was told last; it stays when the service cannot be reached. */
  readonly answer?: ProvidersAnswer
  /** When that was, Unix milliseconds. */
  readonly time?: number
  /** Why the last look came to nothing. */
  readonly error?: Error
}

/** A change, without the state of the file it is meant for. */
export type WantedChange = Pick<ProviderChange, 'id' | 'change'>

/** What came of a change. `conflict`: the file is another one than was shown; it is shown now, and was left as it is. */
export type ChangeOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'failed'; readonly error: Error }

/** The providers as the service tells of them, and what may be done about them. */
export interface ProvidersFeed {
  readonly state: Store<ProvidersState>
  /** Asks how they are. Never rejects: see {@link ProvidersState.error}. */
  refresh(): Promise<void>
  /**
   * Makes one change to the file that was shown last, after those that are on their way; when one of these is not made,
   * it is not either. Never rejects.
   */
  change(wanted: WantedChange): Promise<ChangeOutcome>
  /** Has one provider asked for one token. Never rejects. */
  test(id: string): Promise<ProviderTest>
}

/** @param now Unix milliseconds; for tests, another clock */
export function providersFeed(client: Pick<ApiClient, 'get' | 'post'>, now: () => number = Date.now): ProvidersFeed {
  const state = createStore<ProvidersState>({})
  let asked = 0,
    taken = 0
  let underWay: Promise<ChangeOutcome> | undefined

  /** Takes an answer, unless one to a later question is there already: what was changed does not flicker back. */
  async function take(ask: () => Promise<ProvidersAnswer>): Promise<Error | undefined> {
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
    const error = await take(() => client.get('/api/providers'))
    if (error !== undefined) state.update((known) => ({ ...known, error }))
  }

  async function make(wanted: WantedChange): Promise<ChangeOutcome> {
    const version = state.get().answer?.version
    if (version === undefined) return { kind: 'failed', error: new Error('There is no file to change') }
    const change: ProviderChange = { version, ...wanted }
    const error = await take(() => client.post('/api/providers', change))
    if (error === undefined) return { kind: 'done' }
    if (!(error instanceof ApiError) || error.code !== 'conflict') return { kind: 'failed', error }
    await refresh()
    return { kind: 'conflict' }
  }

  return {
    state,
    refresh,
    async change(wanted) {
      // Of the file as the change before will have left it: pressed twice, a button is no conflict with itself.
      const mine =
        underWay === undefined
          ? make(wanted)
          : underWay.then((before) => (before.kind === 'done' ? make(wanted) : before))
      underWay = mine
      const outcome = await mine
      if (underWay === mine) underWay = undefined
      return outcome
    },
    async test(id) {
      const began = now()
      try {
        const wanted: ProviderTestRequest = { id }
        return await client.post<ProviderTest>('/api/providers/test', wanted)
      } catch (error) {
        return { ok: false, ms: now() - began, why: error instanceof Error ? error.message : String(error) }
      }
    },
  }
}
