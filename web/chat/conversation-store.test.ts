import { describe, expect, test } from 'bun:test'
import type { Conversation, HistoryStore } from '../history/conversation.ts'
import { memoryHistory } from '../history/memory-history.ts'
import { emptyConversation } from './conversation-changes.ts'
import { conversationStore, type ConversationStore } from './conversation-store.ts'
import { settled } from './testing.ts'

const conversation = (title: string): Conversation => ({
  ...emptyConversation('c', { system: '', parameters: {} }, 0),
  title,
})

interface Scene {
  readonly store: ConversationStore
  readonly told: readonly string[]
}

function scene(history: HistoryStore): Scene {
  const told: string[] = []
  const store = conversationStore({
    id: 'c',
    history,
    onPut: (failure) => void told.push(failure?.message ?? 'kept'),
    onRemoved: () => void told.push('removed'),
  })
  return { store, told }
}

describe('conversationStore', () => {
  test('writes one after the other, and of those that wait the latest', async () => {
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
    expect(store.kept?.title).toBe('c')
  })

  test('tells of a failure, and that it is over', async () => {
    const history = memoryHistory()
    let isFull = true
    const { store, told } = scene({
      ...history,
      put: (each) => (isFull ? Promise.reject(new Error('full')) : history.put(each)),
    })
    store.put(conversation('a'))
    await settled()
    expect(store.kept).toBeUndefined()
    isFull = false
    store.put(conversation('a'))
    await settled()
    expect(told).toEqual(['full', 'kept'])
  })

  test('sees what somebody else changed, and not what it wrote itself', async () => {
    const history = memoryHistory()
    const { store } = scene(history)
    store.put(conversation('a'))
    await settled()
    expect(await store.look()).toEqual({})
    await history.put({ ...conversation('b'), isPinned: true })
    expect(await store.look()).toEqual({ title: 'b', isTitled: true, isPinned: true })
  })

  test('sees a removal, and not the lack of what was never there', async () => {
    const history = memoryHistory()
    const { store, told } = scene(history)
    expect(await store.look()).toEqual({})
    store.put(conversation('a'))
    await settled()
    await history.remove('c')
    expect(await store.look()).toBeUndefined()
    store.put(conversation('b'))
    await settled()
    expect(told).toEqual(['kept', 'removed'])
    store.restore(conversation('b'))
    await settled()
    expect((await history.get('c'))?.title).toBe('b')
  })
})
