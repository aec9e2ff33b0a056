import { describe, expect, test } from 'bun:test'
import { changes } from './changes.ts'
import type { HistoryFault, HistoryStore } from './conversation.ts'
import { backendWithFallback } from './fallback-backend.ts'
import type { HistoryBackend } from './history-backend.ts'
import { HistoryFull } from './history-error.ts'
import { historyStore } from './history-store.ts'
import { memoryBackend } from './memory-backend.ts'
import { conversationOf, failureOf, historyContract } from './testing.ts'

const forever = new Promise<void>(() => undefined)

/** A backend with a maximum number of conversations; with 0, it stores no drafts either. */
function smallBackend(room: { max: number }): HistoryBackend {
  const backend = memoryBackend()
  return {
    ...backend,
    async put(conversation, mustExist) {
      if ((await backend.head(conversation.id)) === undefined && (await backend.heads()).length >= room.max)
        throw new HistoryFull()
      await backend.put(conversation, mustExist)
    },
    async putDraft(id, draft) {
      if (room.max === 0) throw new HistoryFull()
      await backend.putDraft(id, draft)
    },
  }
}

interface Rig {
  readonly history: HistoryStore
  readonly durable: HistoryBackend
  readonly fallback: HistoryBackend
  readonly faults: (HistoryFault | undefined)[]
}

function rigOf(
  durable: HistoryBackend,
  opening: Promise<HistoryBackend> = Promise.resolve(durable),
  patience: Promise<void> = forever,
): Rig {
  const faults: (HistoryFault | undefined)[] = [],
    fallback = memoryBackend()
  const backend = backendWithFallback({ opening, patience, fallback, onFault: (fault) => faults.push(fault) })
  return { history: historyStore(backend, changes(), () => faults.at(-1)), durable, fallback, faults }
}

const idsOf = async (backend: HistoryBackend): Promise<string> => (await backend.heads()).map(({ id }) => id).join(' ')

historyContract('with a fallback', async () => rigOf(memoryBackend()).history)
historyContract('with only its fallback', async () => {
  const { history } = rigOf(memoryBackend(), new Promise(() => undefined), Promise.resolve())
  await history.heads()
  return { ...history, fault: undefined }
})

describe('a full backend', () => {
  test('leaves conversations to the fallback, and gets them when there is space', async () => {
    const { history, durable, fallback, faults } = rigOf(smallBackend({ max: 1 }))
    for (const id of ['a', 'b', 'c']) await history.put(conversationOf({ id }))
    expect([await idsOf(durable), await idsOf(fallback), faults]).toEqual(['a', 'b c', ['full']])
    expect([
      (await history.heads()).length,
      (await history.all()).length,
      (await history.search('monad')).length,
    ]).toEqual([3, 3, 3])
    await history.remove('a')
    expect([await idsOf(durable), await idsOf(fallback), faults]).toEqual(['b', 'c', ['full']])
    await history.remove('b')
    expect([await idsOf(durable), await idsOf(fallback), faults]).toEqual(['c', '', ['full', undefined]])
  })

  test('may refuse a changed conversation: the newest version counts, in either backend', async () => {
    const room = { max: 0 }
    const durable = smallBackend(room),
      { history, fallback } = rigOf(durable)
    await durable.put(conversationOf({ title: 'Old' }), false).catch(() => undefined)
    await history.put(conversationOf({ title: 'New' }))
    await history.put(conversationOf({ title: 'Newer' }))
    expect([(await history.get('c1'))?.title, (await history.heads()).length]).toEqual(['Newer', 1])
    room.max = 1
    await history.put(conversationOf({ title: 'Newest' }))
    expect([(await history.all()).map(({ title }) => title), await idsOf(fallback), history.fault]).toEqual([
      ['Newest'],
      '',
      undefined,
    ])
  })

  test('leaves drafts to the fallback', async () => {
    const room = { max: 0 }
    const { history } = rigOf(smallBackend(room))
    const draft = { text: 'x', images: [] }
    await history.putDraft('new', draft)
    expect([await history.draft('new'), history.fault]).toEqual([draft, 'full'])
    room.max = 1
    await history.putDraft('new', { ...draft, text: 'y' })
    expect((await history.draft('new'))?.text).toBe('y')
  })
})

describe('a backend that opens late', () => {
  test('is waited for, until the wait is over', async () => {
    let arrive = (_backend: HistoryBackend): void => {},
      lose = (): void => {}
    const opening = new Promise<HistoryBackend>((resolve) => {
        arrive = resolve
      }),
      patience = new Promise<void>((resolve) => {
        lose = resolve
      })
    const { history, durable, faults } = rigOf(memoryBackend(), opening, patience)
    await durable.put(conversationOf({ id: 'there' }), false)
    const first = history.put(conversationOf({ id: 'a' }))
    lose()
    await first
    expect([(await history.heads()).map(({ id }) => id), faults]).toEqual([['a'], ['blocked']])
    const changed = new Promise((resolve) => history.subscribe(resolve))
    arrive(durable)
    await history.put(conversationOf({ id: 'b' }))
    await changed
    expect([await idsOf(durable), faults]).toEqual(['a b there', ['blocked', undefined]])
  })

  test('does not overwrite a conversation written during the move', async () => {
    let arrive = (_backend: HistoryBackend): void => {}
    const opening = new Promise<HistoryBackend>((resolve) => {
      arrive = resolve
    })
    const { history, durable } = rigOf(memoryBackend(), opening, Promise.resolve())
    for (const id of ['a', 'b', 'c']) await history.put(conversationOf({ id, title: 'Old' }))
    arrive(durable)
    await Promise.all(
      ['a', 'b', 'c'].flatMap((id) => [
        history.put(conversationOf({ id, title: 'New' })),
        history.put(conversationOf({ id, title: 'Newest' })),
      ]),
    )
    expect((await history.all()).map(({ title }) => title)).toEqual(['Newest', 'Newest', 'Newest'])
    expect((await durable.all()).length).toBe(3)
  })
})

test('an unreadable backend is reported, and writes go to the fallback', async () => {
  const broken = (): Promise<never> => Promise.reject(new Error('disk'))
  const { history, fallback, faults } = rigOf({ ...memoryBackend(), put: broken, heads: broken, get: broken })
  await history.put(conversationOf())
  expect([await idsOf(fallback), faults]).toEqual(['c1', ['unavailable']])
  expect(await history.get('c1')).toEqual(conversationOf())
  expect(await failureOf(history.heads())).toEqual(new Error('disk'))
})
