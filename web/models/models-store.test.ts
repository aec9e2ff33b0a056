import { describe, expect, test } from 'bun:test'
import type { ModelsAnswer } from '../../src/http/page-api.ts'
import { modelsStore } from './models-store.ts'
import type { ModelsState, VisiblePage } from './models-store.ts'

const answer: ModelsAnswer = {
  isEchoOnly: false,
  models: [{ name: 'm', offers: [{ provider: 'groq', upstream: 'm' }] }],
}

/** A client whose answers a test gives one by one. */
function scriptedClient() {
  const asked: PromiseWithResolvers<unknown>[] = []
  return {
    asked,
    client: {
      // The answer's type is the caller's to say, as in the real client.
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
  visibilityState: DocumentVisibilityState = 'visible'
  show(state: DocumentVisibilityState): void {
    this.visibilityState = state
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
  test('is loading until it has asked, then has the answer', async () => {
    const { asked, store, kinds } = started()
    expect(store.state.get().kind).toBe('loading')
    const refreshed = store.refresh()
    asked[0]?.resolve(answer)
    await refreshed
    expect(store.state.get()).toEqual({ kind: 'ready', answer })
    expect(kinds).toEqual(['ready'])
  })

  test('has one request under way, however often it is asked', async () => {
    const { asked, store } = started()
    const both = [store.refresh(), store.refresh()]
    expect(asked).toHaveLength(1)
    asked[0]?.resolve(answer)
    await Promise.all(both)
    void store.refresh()
    expect(asked).toHaveLength(2)
  })

  test('says why the first request failed, and is loading while it asks again', async () => {
    const { asked, store, kinds } = started()
    const refreshed = store.refresh()
    const error = new Error('no')
    asked[0]?.reject(error)
    await refreshed
    expect(store.state.get()).toEqual({ kind: 'failed', error })
    void store.refresh()
    expect(kinds).toEqual(['failed', 'loading'])
  })

  test('keeps the last answer when a refresh fails, says why, and forgets that when one succeeds', async () => {
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

  test('asks again when the page comes back into view, not when it goes', () => {
    const page = new FakePage()
    const { asked } = started(page)
    page.show('hidden')
    expect(asked).toHaveLength(0)
    page.show('visible')
    expect(asked).toHaveLength(1)
  })
})
