import 'fake-indexeddb/auto'
import { expect, test } from 'bun:test'
import { openDB } from 'idb'
import { conversationOf } from '../testing.ts'
import { commonOf } from './merge-conversations.ts'
import { memoryRecords, noState, openRecords, type SyncRecords } from './sync-records.ts'

const makers: readonly (readonly [string, () => Promise<SyncRecords>])[] = [
  ['in a database', () => openRecords(crypto.randomUUID(), openDB)],
  ['in memory', async () => memoryRecords()],
]

test.each(makers)('records %s are read as they were written', async (_where, make) => {
  const records = await make()
  const record = { id: 'c1', version: 7, updated: 5, unsent: 2, isRemoved: true, isUnreadable: true } as const
  const common = commonOf(conversationOf())
  expect([await records.get('c1'), await records.state()]).toEqual([undefined, noState])
  await records.put({ ...record, common })
  await records.put({ id: 'c2', version: 0, updated: 0, unsent: 0, isLocal: true })
  expect(await records.get('c1')).toEqual({ ...record, common })
  expect(await records.all()).toEqual([record, { id: 'c2', version: 0, updated: 0, unsent: 0, isLocal: true }])
  await records.put(record)
  expect((await records.get('c1'))?.common).toBeUndefined()
  await records.remove('c2')
  expect((await records.all()).length).toBe(1)
  await records.clear()
  const state = { database: 'd', person: 3, cursor: 9, clearUntil: 4, isKeptHere: true, unreadableHidden: 2 } as const
  await records.putState(state)
  expect([await records.all(), await records.state()]).toEqual([[], state])
  records.close()
})

test('damaged records are left out', async () => {
  const user = crypto.randomUUID(),
    records = await openRecords(user, openDB)
  const raw = await openDB(`svc-sync-${user}`)
  await raw.put('records', { id: 'c1', version: 'x', unsent: -1, updated: Number.NaN, isLocal: 1 })
  await raw.put('common', { messages: [5, 'm1'], members: { title: 5 } }, 'c1')
  await raw.put('state', { database: 5 }, 'state')
  expect(await records.get('c1')).toEqual({
    ...{ id: 'c1', version: 0, updated: 0, unsent: 0 },
    common: { messages: ['m1'], members: {} },
  })
  expect(await records.state()).toEqual(noState)
  raw.close()
  records.close()
})
