import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Unreachable } from '../../api/client.ts'
import type { Conversation, Message } from '../conversation.ts'
import type { HistoryBackend } from '../history-backend.ts'
import { memoryBackend } from '../memory-backend.ts'
import { parseConversation } from '../parse-conversation.ts'
import { answerOf, conversationOf, questionOf } from '../testing.ts'
import { branchOf, leafOf, withAdded, withoutMessage, withParents } from '../tree.ts'
import type { HistoryClient } from './history-client.ts'
import { isSame } from './merge-conversations.ts'
import { memoryRecords, type SyncRecords } from './sync-records.ts'
import { Synchronizer } from './sync.ts'
import { syncedBackend } from './synced-backend.ts'
import type { Exclusively } from './synced-copy.ts'

/** The service, as its API describes it. */
function fakeService() {
  const stored = new Map<string, { version: number; text: string | undefined }>()
  let last = 0
  let database = 'd1'
  let person = 1
  let pruned = 0
  const unreadable = new Set<string>()
  let days: number | undefined

  const client: HistoryClient = {
    async changes(after, isWhole) {
      const isTooOld = !isWhole && after < pruned
      const entries = [...stored]
        .filter(([, { version, text }]) => !isTooOld && version > after && (!isWhole || text !== undefined))
        .map(([id, { version, text }]) => ({ id, version, isRemoved: text === undefined }))
        .toSorted((one, other) => one.version - other.version)
      // Short answers, so that pages are tested.
      return {
        ...{ database, person, last, isTooOld },
        ...(days === undefined ? {} : { days }),
        isCut: entries.length > 2,
        entries: entries.slice(0, 2),
      }
    },
    async read(ids) {
      return ids
        .flatMap((id) => {
          const { version = 0, text } = stored.get(id) ?? {}
          const conversation = unreadable.has(id) ? null : (JSON.parse(text ?? 'null') as unknown)
          return text === undefined ? [] : [{ id, version, conversation }]
        })
        .slice(0, 1)
    },
    async write(conversation, base) {
      const { version = 0, text } = stored.get(conversation.id) ?? {}
      if ((text === undefined ? 0 : version) !== base) return 'conflict'
      last += 1
      unreadable.delete(conversation.id)
      stored.set(conversation.id, { version: last, text: JSON.stringify(conversation) })
      return last
    },
    async remove(id, base) {
      const { version = 0, text } = stored.get(id) ?? {}
      if (text === undefined) return true
      if (version !== base) return false
      last += 1
      stored.set(id, { version: last, text: undefined })
      return true
    },
    async clear(until) {
      last += 1
      pruned = last
      for (const [id, { version }] of stored) if (version <= until) stored.delete(id)
    },
  }
  return {
    client,
    ids: () => [...stored].flatMap(([id, { text }]) => (text === undefined ? [] : [id])).toSorted(),
    text: () => JSON.stringify([...stored]),
    keepFor(count: number) {
      days = count
    },
    /** It cannot decrypt a conversation any more, or can again. */
    garble(id: string) {
      if (!unreadable.delete(id)) unreadable.add(id)
    },
    /** As `svc person forget`. */
    forget() {
      stored.clear()
      last += 1
      person += 1
    },
    /** Another database, or an earlier state of this one. */
    replace(other: string) {
      stored.clear()
      last = 0
      database = other
    },
  }
}

type Service = ReturnType<typeof fakeService>

/** A browser of the person. */
interface Device {
  readonly local: HistoryBackend
  readonly records: SyncRecords
  readonly history: HistoryBackend
  readonly sync: Synchronizer
  isOffline: boolean
}

function deviceOf({ client }: Service, local = memoryBackend(), records = memoryRecords()): Device {
  let last: Promise<unknown> = Promise.resolve()
  const exclusively: Exclusively = (name, work) => {
    if (name === 'sync') return work()
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
  const ifOnline =
    <Given extends readonly unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
    (...given: Given): Promise<Result> =>
      device.isOffline ? Promise.reject(new Unreachable('offline')) : call(...given)
  const sync = new Synchronizer({
    local,
    records,
    exclusively,
    onChange: (id) => history.changed?.(id),
    client: {
      changes: ifOnline(client.changes),
      read: ifOnline(client.read),
      write: ifOnline(client.write),
      remove: ifOnline(client.remove),
      clear: ifOnline(client.clear),
    },
  })
  const history: HistoryBackend = syncedBackend({
    local,
    records,
    exclusively,
    onUnsent: () => undefined,
    onMerged: (id) => history.changed?.(id),
  })
  const device: Device = { local, records, history, sync, isOffline: false }
  return device
}

function put({ history }: Device, conversation: Conversation): Promise<void> {
  return history.put(conversation, false)
}

async function settle(devices: readonly Device[]): Promise<void> {
  for (let round = 0; round < 4; round++) for (const { sync } of devices) await sync.run()
}

const textsOf = (conversation: Conversation | undefined) => conversation?.messages.map(({ text }) => text)
const two = () => {
  const service = fakeService()
  return { service, one: deviceOf(service), other: deviceOf(service) }
}

describe('two devices', () => {
  test('have what each of them writes, changes and removes', async () => {
    const { service, one, other } = two()
    for (const id of ['a', 'b', 'c', 'd', 'e']) await put(one, conversationOf({ id }))
    await settle([one, other])
    expect((await other.history.heads()).map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
    await other.history.amend('a', { title: 'Renamed', isTitled: true })
    await other.history.remove('b')
    await settle([other, one])
    expect((await one.history.get('a'))?.title).toBe('Renamed')
    expect([await one.history.get('b'), service.ids()]).toEqual([undefined, ['a', 'c', 'd', 'e']])
    expect(one.sync.status.get()).toEqual({
      kind: 'done',
      unsent: 0,
      refused: 0,
      undecided: 0,
      kept: 0,
      unreadable: 0,
      isFetched: true,
      days: undefined,
    })
  })

  test('merge what both wrote while they were offline', async () => {
    const { one, other } = two()
    const begin = conversationOf({ messages: [questionOf('q1', 'one')] })
    await put(one, begin)
    await settle([one, other])
    one.isOffline = other.isOffline = true
    await put(one, { ...begin, ...withAdded(begin, 'q1', [answerOf('complete')]), title: 'T', isTitled: true })
    await put(other, { ...begin, ...withAdded(begin, 'q1', [questionOf('q2', 'two')]), isPinned: true })
    await settle([one, other])
    expect(one.sync.status.get()).toMatchObject({ kind: 'away', unsent: 1 })
    one.isOffline = other.isOffline = false
    await settle([one, other])
    const [mine, theirs] = [await one.history.get('c1'), await other.history.get('c1')]
    expect(mine).toMatchObject({ title: 'T', isTitled: true, isPinned: true })
    expect(mine?.messages.map(({ id }) => id).toSorted()).toEqual(['answer', 'q1', 'q2'])
    expect(mine !== undefined && theirs !== undefined && isSame(mine, theirs)).toBe(true)
  })

  test('keep a message that arrives while the other tab of a conversation is written', async () => {
    const { one, other } = two()
    const begin = conversationOf({ messages: [questionOf('q1', 'one')] })
    await put(one, begin)
    await settle([one, other])
    await put(other, { ...begin, ...withAdded(begin, 'q1', [questionOf('q2', 'two')]) })
    await settle([other, one])
    // The writer on this device has not read what arrived.
    await put(one, { ...begin, ...withAdded(begin, 'q1', [questionOf('q3', 'three')]) })
    await settle([one, other])
    expect(textsOf(await other.history.get('c1'))?.toSorted()).toEqual(['one', 'three', 'two'])
  })

  test('keep a conversation that one deleted and the other continued', async () => {
    const { one, other } = two()
    const begin = conversationOf({ messages: [questionOf('q1', 'one')] })
    await put(one, begin)
    await settle([one, other])
    await one.history.remove('c1')
    await put(other, { ...begin, ...withAdded(begin, 'q1', [questionOf('q2', 'two')]) })
    await settle([one, other])
    expect(textsOf(await one.history.get('c1'))).toEqual(['one', 'two'])
  })

  test('delete everything on both, but not what the other wrote later', async () => {
    const { service, one, other } = two()
    for (const id of ['a', 'b', 'c']) await put(one, conversationOf({ id }))
    await settle([one, other])
    await one.history.clear()
    await put(other, conversationOf({ id: 'later' }))
    await settle([other, one, other])
    expect([service.ids(), await one.history.heads()]).toMatchObject([['later'], [{ id: 'later' }]])
    expect((await other.history.heads()).map(({ id }) => id)).toEqual(['later'])
  })
})

describe('conversations from before', () => {
  test('stay in the browser until the person uploads them', async () => {
    const service = fakeService()
    const local = memoryBackend()
    await local.put(conversationOf({ id: 'old' }), false)
    const device = deviceOf(service, local)
    await device.sync.prepare()
    await settle([device])
    expect([service.ids(), device.sync.status.get().undecided]).toEqual([[], 1])
    await put(device, conversationOf({ id: 'new' }))
    await put(device, conversationOf({ id: 'old', title: 'Changed' }))
    await settle([device])
    expect([service.ids(), device.sync.status.get().undecided]).toEqual([['new'], 1])
    await device.sync.decide(false)
    await settle([device])
    expect([service.ids(), device.sync.status.get()]).toMatchObject([['new'], { undecided: 0, kept: 1 }])
    await device.sync.decide(true)
    await settle([device])
    expect([service.ids(), device.sync.status.get()]).toMatchObject([['new', 'old'], { undecided: 0, kept: 0 }])
    // The next ones are asked about again.
    await local.put(conversationOf({ id: 'older' }), false)
    await device.sync.prepare()
    await settle([device])
    expect(device.sync.status.get()).toMatchObject({ undecided: 1, kept: 0 })
  })
})

describe('a service', () => {
  test('that forgot the person takes the copies away, and has what is written later', async () => {
    const { service, one, other } = two()
    await put(one, conversationOf({ id: 'a' }))
    await settle([one, other])
    service.forget()
    await put(other, conversationOf({ id: 'b' }))
    await settle([one, other])
    expect([service.ids(), (await one.history.heads()).map(({ id }) => id)]).toEqual([['b'], ['b']])
  })

  test.each(['d1', 'd2'])('with an earlier state or another database (%s) gets everything again', async (database) => {
    const { service, one, other } = two()
    for (const id of ['a', 'b', 'c', 'd']) await put(one, conversationOf({ id }))
    await settle([one, other])
    service.replace(database)
    await settle([one, other])
    expect([service.ids(), (await other.history.heads()).length]).toEqual([['a', 'b', 'c', 'd'], 4])
  })

  test('is asked again for what the browser has deleted', async () => {
    const service = fakeService()
    const one = deviceOf(service)
    await put(one, conversationOf({ id: 'a' }))
    await settle([one])
    const again = deviceOf(service, memoryBackend(), one.records)
    await again.sync.prepare()
    await settle([again])
    expect((await again.history.heads()).map(({ id }) => id)).toEqual(['a'])
  })

  test('that cannot decrypt conversations sends the others; their number is known until they are read', async () => {
    const { service, one, other } = two()
    for (const id of ['a', 'b', 'c']) await put(one, conversationOf({ id }))
    await settle([one])
    for (const id of ['a', 'b']) service.garble(id)
    await settle([other])
    expect([(await other.history.heads()).map(({ id }) => id), other.sync.status.get()]).toMatchObject([
      ['c'],
      { kind: 'done', unreadable: 2 },
    ])
    await other.sync.hideUnreadable()
    expect(other.sync.status.get().unreadable).toBe(0)
    // It is stored anew by a device that still has it.
    await put(one, conversationOf({ id: 'a', title: 'Continued' }))
    await settle([one, other])
    expect((await other.history.get('a'))?.title).toBe('Continued')
    // The owner has set the right key: a page that opens reads again.
    service.garble('b')
    const opened = deviceOf(service, other.local, other.records)
    await settle([opened])
    expect((await opened.records.all()).filter(({ isUnreadable }) => isUnreadable === true)).toEqual([])
  })

  test('that deletes conversations says after how many days', async () => {
    const { service, one } = two()
    service.keepFor(90)
    await settle([one])
    expect(one.sync.status.get().days).toBe(90)
  })

  test('that was never reached is known as such', async () => {
    const { one } = two()
    one.isOffline = true
    await settle([one])
    expect(one.sync.status.get()).toMatchObject({ kind: 'away', isFetched: false })
    // It has no conversations yet.
    one.isOffline = false
    await settle([one])
    one.isOffline = true
    await settle([one])
    expect(one.sync.status.get()).toMatchObject({ kind: 'away', isFetched: true })
  })

  test('that sends a damaged conversation changes nothing here', async () => {
    const { service, one, other } = two()
    await put(one, conversationOf({ id: 'a' }))
    await settle([one, other])
    await service.client.write({ ...conversationOf({ id: 'a' }), messages: 5 } as unknown as Conversation, 1)
    await service.client.write({ id: 'x' } as unknown as Conversation, 0)
    await settle([one, other])
    expect(await one.history.all()).toEqual([conversationOf({ id: 'a' })])
  })
})

/** One thing that a person does on a device. */
interface Act {
  readonly device: 0 | 1
  readonly id: 'a' | 'b'
  readonly what: 'add' | 'version' | 'grow' | 'drop' | 'title' | 'pin' | 'delete' | 'sync' | 'network'
  /** The view has the state that it read or wrote last, and not the stored one. */
  readonly isStale: boolean
  readonly pick: number
}

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.record({
    device: fc.constantFrom(0, 1),
    id: fc.constantFrom('a', 'b'),
    what: fc.constantFrom('add', 'add', 'version', 'grow', 'drop', 'title', 'pin', 'delete', 'sync', 'sync', 'network'),
    isStale: fc.boolean(),
    pick: fc.nat(20),
  }),
  { maxLength: 40 },
)

test('any order of changes, offline times and deletions ends in the same state, with nothing lost', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (list) => {
      const { service, one, other } = two()
      const devices = [one, other] as const
      const shown = [new Map<string, Conversation>(), new Map<string, Conversation>()] as const
      const written = new Map<string, string>()
      const dropped = new Set<string>()
      const deleted = new Set<string>()
      let count = 0

      function changed(act: Act, before: Conversation): Conversation {
        const { what, pick } = act
        count += 1
        const at = before.messages[pick % before.messages.length]
        const message: Message = { ...questionOf(`m${count}`, `text ${count}`), time: count }
        const changes = { ...before, updated: count }
        if (what === 'add' || at === undefined) {
          written.set(message.id, act.id)
          return { ...changes, ...withAdded(before, leafOf(before)?.id, [message]) }
        }
        if (what === 'version') {
          written.set(message.id, act.id)
          const parent = withParents(before).find(({ id }) => id === at.id)?.parent
          return { ...changes, ...withAdded(before, parent, [message]) }
        }
        if (what === 'drop') {
          dropped.add(at.id)
          return { ...changes, ...withoutMessage(before, at.id) }
        }
        if (what === 'title') return { ...changes, title: `title ${count}`, isTitled: true }
        if (what === 'pin') return { ...changes, isPinned: !before.isPinned }
        const answer: Message = { ...answerOf('complete'), id: `m${count}`, time: count, text: 'x'.repeat(count) }
        written.set(answer.id, act.id)
        return { ...changes, ...withAdded(before, leafOf(before)?.id, [answer]) }
      }

      for (const act of list) {
        const device = devices[act.device]
        const views = shown[act.device]
        if (act.what === 'sync') await device.sync.run()
        else if (act.what === 'network') device.isOffline = !device.isOffline
        else if (act.what === 'delete') {
          deleted.add(act.id)
          views.delete(act.id)
          await device.history.remove(act.id)
        } else {
          const stored = act.isStale && views.has(act.id) ? views.get(act.id) : await device.history.get(act.id)
          const next = changed(act, stored ?? conversationOf({ id: act.id, messages: [], updated: count }))
          views.set(act.id, next)
          await put(device, next)
        }
      }
      one.isOffline = other.isOffline = false
      await settle(devices)

      expect([one.sync.status.get().unsent, other.sync.status.get().unsent]).toEqual([0, 0])
      const [ours, theirs] = [await one.history.all(), await other.history.all()]
      expect(ours.map(({ id }) => id).toSorted()).toEqual(service.ids())
      expect(theirs.map(({ id }) => id).toSorted()).toEqual(service.ids())
      for (const mine of ours) {
        const same = theirs.find(({ id }) => id === mine.id)
        expect(same !== undefined && isSame(mine, same)).toBe(true)
        expect(parseConversation(mine)).toMatchObject({ kind: 'ok' })
        expect(branchOf(mine).length > 0).toBe(mine.messages.length > 0)
      }
      const there = new Set(ours.flatMap(({ messages }) => messages.map(({ id }) => id)))
      const lost = [...written].filter(([id, owner]) => !there.has(id) && !dropped.has(id) && !deleted.has(owner))
      expect(lost).toEqual([])
      const back = [...dropped].filter((id) => there.has(id) && !deleted.has(written.get(id) ?? ''))
      expect(back).toEqual([])
    }),
    { numRuns: 150 },
  )
}, 20_000)
