import type { ModelsAnswer } from '../../src/http/page/page-api.ts'
import type { ApiClient } from '../api/client.ts'
import { createStore, type Store } from '../store.ts'

/** State of the model list. */
export type ModelsState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: Error }
  /** `refreshError`: error of the last refresh; `answer` is from before it. */
  | { readonly kind: 'ready'; readonly answer: ModelsAnswer; readonly refreshError?: Error }

/** The service's model list. */
export interface ModelsStore {
  readonly state: Store<ModelsState>
  /** Loads the list, unless a request is running. Resolves when the state is updated; never rejects. */
  refresh(): Promise<void>
  /** Loads the list after a change. A running request may have the old list, so another one follows it. */
  renew(): Promise<void>
}

/** The part of `window` that reports visibility. */
export interface VisiblePage extends Pick<Window, 'addEventListener'> {
  readonly document: Pick<Document, 'visibilityState'>
}

/**
 * Creates the store. It loads on the first {@link ModelsStore.refresh}, and when the page becomes visible or focused.
 *
 * @param page source of these events; absent outside of a browser
 */
export function modelsStore(
  client: Pick<ApiClient, 'get'>,
  page: VisiblePage | undefined = globalThis.window,
): ModelsStore {
  const state = createStore<ModelsState>({ kind: 'loading' })
  let running: Promise<void> | undefined

  async function load(): Promise<void> {
    if (state.get().kind === 'failed') state.set({ kind: 'loading' })
    try {
      state.set({ kind: 'ready', answer: await client.get<ModelsAnswer>('/api/models') })
    } catch (error) {
      state.update((last) => afterFailure(last, error instanceof Error ? error : new Error(String(error))))
    }
  }

  function refresh(): Promise<void> {
    running ??= load().finally(() => {
      running = undefined
    })
    return running
  }

  for (const event of ['visibilitychange', 'focus']) {
    page?.addEventListener(event, () => {
      if (page.document.visibilityState === 'visible') void refresh()
    })
  }
  return { state, refresh, renew: () => (running === undefined ? refresh() : running.then(refresh)) }
}

function afterFailure(last: ModelsState, error: Error): ModelsState {
  return last.kind === 'ready' ? { ...last, refreshError: error } : { kind: 'failed', error }
}
