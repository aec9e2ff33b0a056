import 'fake-indexeddb/auto'
import { describe, expect, test } from 'bun:test'
import { deleteDB, openDB } from 'idb'
import type { HistoryStore } from './conversation.ts'
import { connectionTo, upgrades } from './database.ts'
import { headOf } from './heads.ts'
import { ConversationRemoved, HistoryOutdated } from './history-error.ts'
import { openHistory } from './open-history.ts'
import { withoutData } from './pictures.ts'
import { answerOf, conversationOf, failureOf, historyContract, questionOf } from './testing.ts'
import { withAdded } from './tree.ts'

let users = 0

function newUser(): string {
  return `user ${++users}`
}

/** Runs a test in two tabs of one user, and closes them. */
async function inTwoTabs(
  examine: (one: HistoryStore, other: HistoryStore, user: string) => Promise<void>,
): Promise<void> {
  const user = newUser()
  const one = await openHistory(user),
    other = await openHistory(user)
  try {
    await examine(one, other, user)
  } finally {
    one.close()
    other.close()
  }
}

/** Resolves when the history has this fault. */
function saysFault(history: HistoryStore, fault: HistoryStore['fault']): Promise<void> {
  return new Promise((resolve) => {
    if (history.fault === fault) return resolve()
    const stop = history.subscribe(() => {
      if (history.fault !== fault) return
      stop()
      resolve()
    })
  })
}

historyContract('in a database', () => openHistory(newUser()))

describe('a user', () => {
  test('finds their conversations again, and other users do not', async () => {
    const user = newUser()
    const before = await openHistory(user)
    await before.put(conversationOf())
    await before.putDraft('new', { text: 'x', images: [] })
    before.close()
    const again = await openHistory(user),
      other = await openHistory(newUser())
    expect([await again.all(), await again.draft('new')]).toEqual([[conversationOf()], { text: 'x', images: [] }])
    expect([await other.all(), await other.draft('new')]).toEqual([[], undefined])
    again.close()
    other.close()
  })
})

describe('two tabs', () => {
  test('see and receive each other’s changes', () =>
    inTwoTabs(async (one, other) => {
      const changed = new Promise<string>((resolve) => other.subscribe(resolve))
      await one.put(conversationOf())
      expect(await changed).toBe('c1')
      expect(await other.get('c1')).toEqual(conversationOf())
    }))

  test('keep the last write', () =>
    inTwoTabs(async (one, other) => {
      await one.put(conversationOf({ title: 'First' }))
      await other.put(conversationOf({ title: 'Second' }))
      await one.put(conversationOf({ title: 'Third' }))
      expect((await other.get('c1'))?.title).toBe('Third')
    }))

  test('cannot bring back what the other removed, but the other can', () =>
    inTwoTabs(async (one, other) => {
      await one.put(conversationOf())
      const copy = await other.get('c1')
      await one.remove('c1')
      expect(await failureOf(other.put(copy ?? conversationOf()))).toBeInstanceOf(ConversationRemoved)
      expect(await one.all()).toEqual([])
      await one.restore(conversationOf())
      await other.put(conversationOf({ title: 'From the other' }))
      expect((await one.get('c1'))?.title).toBe('From the other')
    }))

  test('do not lose an image that the other had removed', () =>
    inTwoTabs(async (one, other) => {
      const withPicture = conversationOf({ messages: [questionOf('m1', 'Look', ['i1'])] })
      await one.put(withPicture)
      await other.put(conversationOf({ messages: [] }))
      await one.put(withPicture)
      expect(await other.get('c1')).toEqual(withPicture)
    }))
})

test('unused images are removed from the database', async () => {
  const user = newUser(),
    history = await openHistory(user)
  await history.put(conversationOf({ messages: [questionOf('m1', '', ['i1', 'i2'])] }))
  await history.putDraft('c1', { text: '', images: questionOf('m1', '', ['i3', 'i4']).images })
  const raw = await openDB(`svc-${user}`)
  expect(await raw.count('pictures')).toBe(4)
  await history.put(conversationOf({ messages: [questionOf('m1', '', ['i2'])] }))
  await history.putDraft('c1', { text: '', images: questionOf('m1', '', ['i4']).images })
  expect(await raw.getAllKeys('pictures')).toEqual([
    ['c1', 'i2'],
    ['draft/c1', 'i4'],
  ])
  await history.remove('c1')
  expect(await raw.count('pictures')).toBe(0)
  raw.close()
  history.close()
})

describe('damaged data in the database', () => {
  async function withRecords(
    write: (put: (store: string, value: unknown, key?: IDBValidKey) => Promise<unknown>) => Promise<void>,
    examine: (history: HistoryStore) => Promise<void>,
  ): Promise<void> {
    const user = newUser(),
      history = await openHistory(user)
    await history.put(conversationOf())
    await history.put(
      conversationOf({ id: 'c2', updated: 1_000, messages: [questionOf('m1', 'Monad with a picture', ['i1'])] }),
    )
    const raw = await openDB(`svc-${user}`)
    await write((store, value, key) => raw.put(store, value, key))
    raw.close()
    await examine(history)
    history.close()
  }

  test.each([
    ['foreign', { id: 'c1', hello: 1 }],
    ['of a wrong type', { ...conversationOf(), title: 5 }],
    ['without messages', { ...conversationOf(), messages: 'none' }],
    ['with messages that are none', { ...conversationOf(), messages: [null, 5, { role: 'user', images: [1, null] }] }],
    ['with an image that was not stored', { ...conversationOf(), messages: [questionOf('m1', '', ['gone'])] }],
  ])('is left out: a body that is %s', (_what, body) =>
    withRecords(
      (put) => put('bodies', body).then(),
      async (history) => {
        expect(await history.get('c1')).toBeUndefined()
        expect((await history.all()).map(({ id }) => id)).toEqual(['c2'])
        expect((await history.search('monad')).map(({ head }) => head.id)).toEqual(['c1', 'c2'])
      },
    ),
  )

  test('is derived again: a head', () =>
    withRecords(
      (put) => put('heads', { id: 'c1', title: null }).then(),
      async (history) => {
        expect((await history.heads()).map(({ id, title }) => [id, title])).toEqual([
          ['c1', 'Monads'],
          ['c2', 'Monads'],
        ])
      },
    ))

  test('is left out: a head whose body is damaged too', () =>
    withRecords(
      async (put) => {
        await put('heads', { id: 'c1', title: null })
        await put('bodies', { id: 'c1' })
      },
      async (history) => {
        expect((await history.heads()).map(({ id }) => id)).toEqual(['c2'])
        await history.remove('c1')
        await history.restore(conversationOf())
        expect((await history.heads()).map(({ id }) => id)).toEqual(['c1', 'c2'])
      },
    ))

  test('is left out: words, pictures and drafts', () =>
    withRecords(
      async (put) => {
        await put('words', { id: 'c1', words: ['burrito'] })
        await put('pictures', 'javascript:alert(1)', ['c2', 'i1'])
        await put('drafts', { text: 5 }, 'new')
        await put('drafts', 'text', 'c1')
      },
      async (history) => {
        expect([await history.search('burrito'), (await history.search('picture')).map(({ head }) => head.id)]).toEqual(
          [[], ['c2']],
        )
        expect(await history.get('c2')).toBeUndefined()
        expect([await history.draft('new'), await history.draft('c1')]).toEqual([undefined, undefined])
      },
    ))
})

describe('a database', () => {
  test('is upgraded to the newest version with its content', async () => {
    const user = newUser(),
      history = await openHistory(user)
    await history.put(conversationOf())
    history.close()
    const newer = await openHistory(user, {
      connection: connectionTo(`svc-${user}`, [
        ...upgrades,
        (database) => void database.createObjectStore('added' as 'heads'),
      ]),
    })
    expect([newer.fault, await newer.all()]).toEqual([undefined, [conversationOf()]])
    newer.close()
    const raw = await openDB(`svc-${user}`)
    expect([raw.version, raw.objectStoreNames.contains('added')]).toEqual([upgrades.length + 1, true])
    raw.close()
  })

  test('from before there were versions of messages is read as it is, and gets them', async () => {
    const user = newUser(),
      before = await openDB(`svc-${user}`, 1, { upgrade: (database) => upgrades[0]?.(database as never) })
    const { id, messages } = conversationOf()
    await before.put('heads', headOf(conversationOf()))
    await before.put('words', { id, words: 'burrito.' })
    for (const message of messages)
      for (const { dataUrl, ...image } of message.role === 'user' ? message.images : [])
        await before.put('pictures', dataUrl, [id, image.id])
    await before.put('bodies', {
      ...conversationOf(),
      messages: messages.map((message) =>
        message.role === 'user' ? { ...message, images: message.images.map(withoutData) } : message,
      ),
    })
    before.close()
    const history = await openHistory(user)
    expect([await history.get('c1'), await history.heads()]).toEqual([conversationOf(), [headOf(conversationOf())]])
    const grown = { ...conversationOf(), ...withAdded(conversationOf(), 'm1', [answerOf('complete')]) }
    await history.put(grown)
    expect(await history.get('c1')).toEqual(grown)
    history.close()
    const older = await openHistory(user, { connection: connectionTo(`svc-${user}`, upgrades.slice(0, 1)) })
    expect([await older.heads(), older.fault]).toEqual([[], 'outdated'])
    older.close()
  })

  test('of a newer version is not used: writes last as long as the page', async () => {
    const user = newUser(),
      raw = await openDB(`svc-${user}`, 1_000)
    const history = await openHistory(user)
    await history.put(conversationOf())
    expect([history.fault, await history.all()]).toEqual(['outdated', [conversationOf()]])
    history.close()
    raw.close()
  })

  test('does not block a newer tab, and this tab keeps later writes in memory', async () => {
    const user = newUser(),
      history = await openHistory(user)
    await history.put(conversationOf())
    const raw = await openDB(`svc-${user}`, 1_000)
    await history.put(conversationOf({ title: 'Written on' }))
    expect(history.fault).toBe('outdated')
    expect((await history.get('c1'))?.title).toBe('Written on')
    expect(await failureOf(history.heads())).toBeInstanceOf(HistoryOutdated)
    expect(await failureOf(history.get('c2'))).toBeInstanceOf(HistoryOutdated)
    history.close()
    raw.close()
  })

  test('that an older tab blocks is not waited for, and used as soon as it is free', async () => {
    const user = newUser(),
      older = await openDB(`svc-${user}`, 1, { upgrade: (database) => upgrades[0]?.(database as never) })
    let lose = (): void => {}
    const patience = new Promise<void>((resolve) => {
      lose = resolve
    })
    const history = await openHistory(user, {
      connection: connectionTo(`svc-${user}`, [...upgrades, () => undefined]),
      patience,
    })
    const put = history.put(conversationOf())
    lose()
    await put
    expect([history.fault, await history.all()]).toEqual(['blocked', [conversationOf()]])
    older.close()
    await saysFault(history, undefined)
    history.close()
    const again = await openDB(`svc-${user}`)
    expect(await again.getAllKeys('heads')).toEqual(['c1'])
    again.close()
  })

  test('that was deleted is created again', async () => {
    const user = newUser(),
      history = await openHistory(user)
    await history.put(conversationOf())
    await deleteDB(`svc-${user}`)
    expect(await failureOf(history.put(conversationOf()))).toBeInstanceOf(ConversationRemoved)
    await history.put(conversationOf({ id: 'c2' }))
    expect([history.fault, await history.all()]).toEqual([undefined, [conversationOf({ id: 'c2' })]])
    history.close()
  })

  test('that is unavailable only sets the fault', async () => {
    for (const failure of [
      new ReferenceError('indexedDB is not defined'),
      new DOMException('no', 'SecurityError'),
      new DOMException('no', 'UnknownError'),
    ]) {
      const history = await openHistory(newUser(), { connection: { use: () => Promise.reject(failure), close() {} } })
      await history.put(conversationOf({ messages: [answerOf('streaming')] }))
      expect([history.fault, (await history.heads()).length, (await history.search('well')).length]).toEqual([
        'unavailable',
        1,
        1,
      ])
      history.close()
    }
  })
})
