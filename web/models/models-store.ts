import type { ModelsAnswer } from '../../src/http/page-api.ts'
import type { ApiClient } from '../api/client.ts'
import { createStore } from '../store.ts'
import type { Store } from '../store.ts'

/** What is known of the models there are. */
export type ModelsState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: Error }
  /** `refreshError`: why the last refresh failed; the answer is the one before it. */
  | { readonly kind: 'ready'; readonly answer: ModelsAnswer; readonly refreshError?: Error }

/** The models there are, as the service last told. */
export interface ModelsStore {
  readonly state: Store<ModelsState>
  /** Asks again, unless that is under way. Resolves when the state says what came of it; never rejects. */
  refresh(): Promise<void>
}

/** The part of `document` that tells whether somebody looks at the page. */
export type VisiblePage = Pick<Document, 'visibilityState' | 'addEventListener'>

/**
 * The models, asked for at the first refresh, and again whenever the page comes back into view. @param page absent:
 * nothing to look at
 */
export function modelsStore(
  client: Pick<ApiClient, 'get'>,
  page: VisiblePage | undefined = globalThis.document,
): ModelsStore {
  const state = createStore<ModelsState>({ kind: 'loading' })
  let underWay: Promise<void> | undefined

  async function load(): Promise<void> {
    if (state.get().kind === 'failed') state.set({ kind: 'loading' })
    try {
      state.set({ kind: 'ready', answer: await client.get<ModelsAnswer>('/api/models') })
    } catch (error) {
      state.update((last) => afterFailure(last, error instanceof Error ? error : new Error(String(error))))
    }
  }

  function refresh(): Promise<void> {
    underWay ??= load().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  page?.addEventListener('visibilitychange', () => {
    if (page.visibilityState === 'visible') void refresh()
  })
  return { state, refresh }
}

function afterFailure(last: ModelsState, error: Error): ModelsState {
  return last.kind === 'ready' ? { ...last, refreshError: error } : { kind: 'failed', error }
}
