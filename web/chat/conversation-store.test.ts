import { describe, expect, test } from 'bun:test'
import type { Conversation, HistoryStore } from '../history/conversation.ts'
import { memoryHistory } from '../history/memory-history.ts'
import { emptyConversation } from './conversation-changes.ts'
import { ConversationStore } from './conversation-store.ts'
import { settled } from './testing.ts'

const conversation = (title: string): Conversation => ({
  ...emptyConversation('c', { system: '', parameters: {} }, 0),
  title,
})

interface Scene {
  readonly store: ConversationStore
  readonly events: readonly string[]
}

function scene(history: HistoryStore): Scene {
  const events: string[] = []
  const store = new ConversationStore({
    id: 'c',
    history,
    onPut: (failure) => void events.push(failure?.message ?? 'saved'),
    onRemoved: () => void events.push('removed'),
  })
  return { store, events }
}

describe('ConversationStore', () => {
  test('writes sequentially, and of the pending states only the latest', async () => {
    const written: string[] = []
    const waiting: (() => void)[] = []
    const { store } = scene({
      ...memoryHistory(),
      put: ({ title }) => {
        written.push(title)
        return new Promise((resolve) => void waiting.push(resolve))
      },
    })
    for (const title of ['a', 'b', 'c']) store.put(conversation(title))
    expect(written).toEqual(['a'])
    expect(store.isBusy).toBe(true)
    waiting[0]?.()
    await settled()
    expect(written).toEqual(['a', 'c'])
    waiting[1]?.()
    await settled()
    expect(store.isBusy).toBe(false)
    expect(store.saved?.title).toBe('c')
  })

  test('reports a failure, and the next success', async () => {
    const history = memoryHistory()
    let isFull = true
    const { store, events } = scene({
      ...history,
      put: (each) => (isFull ? Promise.reject(new Error('full')) : history.put(each)),
    })
    store.put(conversation('a'))
    await settled()
    expect(store.saved).toBeUndefined()
    isFull = false
    store.put(conversation('a'))
    await settled()
    expect(events).toEqual(['full', 'saved'])
  })

  test('sees changes of other tabs, and not its own', async () => {
    const history = memoryHistory()
    const { store } = scene(history)
    store.put(conversation('a'))
    await settled()
    expect(await store.headChanges()).toEqual({})
    await history.put({ ...conversation('b'), isPinned: true, folder: 'x' })
    expect(await store.headChanges()).toEqual({ title: 'b', isTitled: true, isPinned: true, folder: 'x' })
  })

  test('sees a removal, but a conversation that never existed is not removed', async () => {
    const history = memoryHistory()
    const { store, events } = scene(history)
    expect(await store.headChanges()).toEqual({})
    store.put(conversation('a'))
    await settled()
    await history.remove('c')
    expect(await store.headChanges()).toBeUndefined()
    store.put(conversation('b'))
    await settled()
    expect(events).toEqual(['saved', 'removed'])
    store.restore(conversation('b'))
    await settled()
    expect((await history.get('c'))?.title).toBe('b')
  })
})
