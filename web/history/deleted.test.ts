import { beforeEach, describe, expect, test } from 'bun:test'
import { deleteUndoable, deleted, clearDeleted, restoreDeleted } from './deleted.ts'
import { memoryHistory } from './memory-history.ts'
import { conversationOf } from './testing.ts'

beforeEach(clearDeleted)

describe('a deleted conversation', () => {
  test('is restored completely', async () => {
    const history = memoryHistory()
    await history.put(conversationOf({ id: 'a' }))
    await history.put(conversationOf({ id: 'b' }))
    await deleteUndoable(history, 'a')
    await deleteUndoable(history, 'b')
    expect([await history.heads(), deleted.get()?.conversations.map(({ id }) => id)]).toEqual([[], ['a', 'b']])
    expect((await restoreDeleted()).length).toBe(2)
    expect([(await history.all()).map(({ id }) => id), deleted.get()]).toEqual([['a', 'b'], undefined])
    expect(await restoreDeleted()).toEqual([])
  })

  test('is never restored to another user', async () => {
    const mine = memoryHistory(),
      theirs = memoryHistory()
    await mine.put(conversationOf({ id: 'mine' }))
    await theirs.put(conversationOf({ id: 'theirs' }))
    await deleteUndoable(mine, 'mine')
    await deleteUndoable(theirs, 'theirs')
    await restoreDeleted()
    expect([await mine.heads(), (await theirs.all()).map(({ id }) => id)]).toEqual([[], ['theirs']])
  })

  test('cannot be restored if it was unreadable', async () => {
    const history = memoryHistory()
    await history.put(conversationOf())
    await deleteUndoable({ ...history, get: () => Promise.resolve(undefined) }, 'c1')
    expect([await history.heads(), deleted.get()]).toEqual([[], undefined])
  })
})
