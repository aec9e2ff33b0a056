import { describe, expect, test } from 'bun:test'
import { changes } from './changes.ts'
import type { HistoryFault, HistoryStore } from './conversation.ts'
import { HistoryFull } from './history-error.ts'
import { historyOver } from './history-over.ts'
import { memoryShelf } from './memory-shelf.ts'
import type { Shelf } from './shelf.ts'
import { shelfWithSpare } from './spare-shelf.ts'
import { conversationOf, failureOf, historyContract } from './testing.ts'

const forever = new Promise<void>(() => undefined)

/** A shelf with room for so many conversations, and for no drafts when there is none. */
function smallShelf(room: { most: number }): Shelf {
  const shelf = memoryShelf()
  return {
    ...shelf,
    async put(conversation, mustBeThere) {
      if ((await shelf.head(conversation.id)) === undefined && (await shelf.heads()).length >= room.most)
        throw new HistoryFull()
      await shelf.put(conversation, mustBeThere)
    },
    async putDraft(id, draft) {
      if (room.most === 0) throw new HistoryFull()
      await shelf.putDraft(id, draft)
    },
  }
}

interface Rig {
  readonly history: HistoryStore
  readonly lasting: Shelf
  readonly spare: Shelf
  readonly faults: (HistoryFault | undefined)[]
}

function rigOf(
  lasting: Shelf,
  opening: Promise<Shelf> = Promise.resolve(lasting),
  patience: Promise<void> = forever,
): Rig {
  const faults: (HistoryFault | undefined)[] = [],
    spare = memoryShelf()
  const shelf = shelfWithSpare({ opening, patience, spare, onFault: (fault) => faults.push(fault) })
  return { history: historyOver(shelf, changes(), () => faults.at(-1)), lasting, spare, faults }
}

const idsOf = async (shelf: Shelf): Promise<string> => (await shelf.heads()).map(({ id }) => id).join(' ')

historyContract('with a spare shelf', async () => rigOf(memoryShelf()).history)
historyContract('with a spare shelf that has to do', async () => {
  const { history } = rigOf(memoryShelf(), new Promise(() => undefined), Promise.resolve())
  await history.heads()
  return { ...history, fault: undefined }
})

describe('a shelf without room', () => {
  test('leaves to the spare one what does not fit, and takes it when there is room', async () => {
    const { history, lasting, spare, faults } = rigOf(smallShelf({ most: 1 }))
    for (const id of ['a', 'b', 'c']) await history.put(conversationOf({ id }))
    expect([await idsOf(lasting), await idsOf(spare), faults]).toEqual(['a', 'b c', ['full']])
    expect([
      (await history.heads()).length,
      (await history.all()).length,
      (await history.search('monad')).length,
    ]).toEqual([3, 3, 3])
    await history.remove('a')
    expect([await idsOf(lasting), await idsOf(spare), faults]).toEqual(['b', 'c', ['full']])
    await history.remove('b')
    expect([await idsOf(lasting), await idsOf(spare), faults]).toEqual(['c', '', ['full', undefined]])
  })

  test('may be full of what is there already: the newest counts, wherever it lies', async () => {
    const room = { most: 0 }
    const lasting = smallShelf(room),
      { history, spare } = rigOf(lasting)
    await lasting.put(conversationOf({ title: 'Old' }), false).catch(() => undefined)
    await history.put(conversationOf({ title: 'New' }))
    await history.put(conversationOf({ title: 'Newer' }))
    expect([(await history.get('c1'))?.title, (await history.heads()).length]).toEqual(['Newer', 1])
    room.most = 1
    await history.put(conversationOf({ title: 'Newest' }))
    expect([(await history.all()).map(({ title }) => title), await idsOf(spare), history.fault]).toEqual([
      ['Newest'],
      '',
      undefined,
    ])
  })

  test('leaves drafts to the spare one', async () => {
    const room = { most: 0 }
    const { history } = rigOf(smallShelf(room))
    const draft = { text: 'x', images: [] }
    await history.putDraft('new', draft)
    expect([await history.draft('new'), history.fault]).toEqual([draft, 'full'])
    room.most = 1
    await history.putDraft('new', { ...draft, text: 'y' })
    expect((await history.draft('new'))?.text).toBe('y')
  })
})

describe('a shelf that comes late', () => {
  test('is waited for, until waiting has been long enough', async () => {
    let arrive = (_shelf: Shelf): void => {},
      lose = (): void => {}
    const opening = new Promise<Shelf>((resolve) => {
        arrive = resolve
      }),
      patience = new Promise<void>((resolve) => {
        lose = resolve
      })
    const { history, lasting, faults } = rigOf(memoryShelf(), opening, patience)
    await lasting.put(conversationOf({ id: 'there' }), false)
    const first = history.put(conversationOf({ id: 'a' }))
    lose()
    await first
    expect([(await history.heads()).map(({ id }) => id), faults]).toEqual([['a'], ['blocked']])
    const told = new Promise((resolve) => history.subscribe(resolve))
    arrive(lasting)
    await history.put(conversationOf({ id: 'b' }))
    await told
    expect([await idsOf(lasting), faults]).toEqual(['a b there', ['blocked', undefined]])
  })

  test('does not overwrite what is put while the spare one is emptied', async () => {
    let arrive = (_shelf: Shelf): void => {}
    const opening = new Promise<Shelf>((resolve) => {
      arrive = resolve
    })
    const { history, lasting } = rigOf(memoryShelf(), opening, Promise.resolve())
    for (const id of ['a', 'b', 'c']) await history.put(conversationOf({ id, title: 'Old' }))
    arrive(lasting)
    await Promise.all(
      ['a', 'b', 'c'].flatMap((id) => [
        history.put(conversationOf({ id, title: 'New' })),
        history.put(conversationOf({ id, title: 'Newest' })),
      ]),
    )
    expect((await history.all()).map(({ title }) => title)).toEqual(['Newest', 'Newest', 'Newest'])
    expect((await lasting.all()).length).toBe(3)
  })
})

test('a shelf that cannot be read says so, and what is put meanwhile is not lost', async () => {
  const broken = (): Promise<never> => Promise.reject(new Error('disk'))
  const { history, spare, faults } = rigOf({ ...memoryShelf(), put: broken, heads: broken, get: broken })
  await history.put(conversationOf())
  expect([await idsOf(spare), faults]).toEqual(['c1', ['unavailable']])
  expect(await history.get('c1')).toEqual(conversationOf())
  expect(await failureOf(history.heads())).toEqual(new Error('disk'))
})
