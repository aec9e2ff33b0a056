import { describe, expect, test } from 'bun:test'
import type { ModelsAnswer } from '../../src/http/page/page-api.ts'
import { modelsStore, type ModelsState, type VisiblePage } from './models-store.ts'

const answer: ModelsAnswer = {
  isEchoOnly: false,
  models: [{ name: 'm', offers: [{ provider: 'groq', upstream: 'm' }] }],
}

/** A client whose responses come from a test, one by one. */
function scriptedClient() {
  const asked: PromiseWithResolvers<unknown>[] = []
  return {
    asked,
    client: {
      // The caller chooses the answer's type, as with the real client.
      get<Answer>(): Promise<Answer> {
        const call = Promise.withResolvers<Answer>()
        asked.push({
          promise: call.promise,
          resolve: (value) => call.resolve(JSON.parse(JSON.stringify(value))),
          reject: call.reject,
        })
        return call.promise
      },
    },
  }
}

/** A page that can be hidden and shown. */
class FakePage extends EventTarget implements VisiblePage {
  readonly document: { visibilityState: DocumentVisibilityState } = { visibilityState: 'visible' }
  show(state: DocumentVisibilityState): void {
    this.document.visibilityState = state
    this.dispatchEvent(new Event('visibilitychange'))
  }
}

function started(page?: FakePage) {
  const { asked, client } = scriptedClient()
  const store = modelsStore(client, page)
  return { asked, store, kinds: recorded(store.state) }
}

function recorded(state: { get(): ModelsState; subscribe(listener: () => void): () => void }): string[] {
  const kinds: string[] = []
  state.subscribe(() => kinds.push(state.get().kind))
  return kinds
}

describe('modelsStore', () => {
  test('is loading until the first answer', async () => {
    const { asked, store, kinds } = started()
    expect(store.state.get().kind).toBe('loading')
    const refreshed = store.refresh()
    asked[0]?.resolve(answer)
    await refreshed
    expect(store.state.get()).toEqual({ kind: 'ready', answer })
    expect(kinds).toEqual(['ready'])
  })

  test('runs one request at a time', async () => {
    const { asked, store } = started()
    const both = [store.refresh(), store.refresh()]
    expect(asked).toHaveLength(1)
    asked[0]?.resolve(answer)
    await Promise.all(both)
    void store.refresh()
    expect(asked).toHaveLength(2)
  })

  test('requests again after a change, when the running request has ended', async () => {
    const { asked, store } = started()
    void store.refresh()
    const renewed = store.renew()
    asked[0]?.resolve({ ...answer, models: [] })
    await store.refresh()
    asked[1]?.resolve(answer)
    await renewed
    expect(store.state.get()).toEqual({ kind: 'ready', answer })
    void store.renew()
    expect(asked).toHaveLength(3)
  })

  test('has the error of the first request, and is loading during the retry', async () => {
    const { asked, store, kinds } = started()
    const refreshed = store.refresh()
    const error = new Error('no')
    asked[0]?.reject(error)
    await refreshed
    expect(store.state.get()).toEqual({ kind: 'failed', error })
    void store.refresh()
    expect(kinds).toEqual(['failed', 'loading'])
  })

  test('keeps the last answer with the error of a failed refresh, until one succeeds', async () => {
    const { asked, store } = started()
    const first = store.refresh()
    asked[0]?.resolve(answer)
    await first
    const second = store.refresh(),
      error = new Error('gone')
    asked[1]?.reject(error)
    await second
    expect(store.state.get()).toEqual({ kind: 'ready', answer, refreshError: error })
    const third = store.refresh()
    asked[2]?.resolve(answer)
    await third
    expect(store.state.get()).toEqual({ kind: 'ready', answer })
  })

  test('requests again when the page becomes visible, not when it is hidden', () => {
    const page = new FakePage()
    const { asked } = started(page)
    page.show('hidden')
    expect(asked).toHaveLength(0)
    page.show('visible')
    expect(asked).toHaveLength(1)
  })

  test('requests again when the window gets the focus, as after a change in an editor', () => {
    const page = new FakePage()
    const { asked } = started(page)
    page.dispatchEvent(new Event('focus'))
    expect(asked).toHaveLength(1)
  })
})
