import { beforeEach, describe, expect, test } from 'bun:test'
import { deleteForNow, deleted, forgetDeleted, putBack } from './deleted.ts'
import { memoryHistory } from './memory-history.ts'
import { conversationOf } from './testing.ts'

beforeEach(forgetDeleted)

describe('what was deleted', () => {
  test('is put back as it was, all of it', async () => {
    const history = memoryHistory()
    await history.put(conversationOf({ id: 'a' }))
    await history.put(conversationOf({ id: 'b' }))
    await deleteForNow(history, 'a')
    await deleteForNow(history, 'b')
    expect([await history.heads(), deleted.get()?.conversations.map(({ id }) => id)]).toEqual([[], ['a', 'b']])
    expect((await putBack()).length).toBe(2)
    expect([(await history.all()).map(({ id }) => id), deleted.get()]).toEqual([['a', 'b'], undefined])
    expect(await putBack()).toEqual([])
  })

  test('is never put back to somebody else', async () => {
    const mine = memoryHistory(),
      theirs = memoryHistory()
    await mine.put(conversationOf({ id: 'mine' }))
    await theirs.put(conversationOf({ id: 'theirs' }))
    await deleteForNow(mine, 'mine')
    await deleteForNow(theirs, 'theirs')
    await putBack()
    expect([await mine.heads(), (await theirs.all()).map(({ id }) => id)]).toEqual([[], ['theirs']])
  })

  test('cannot be put back when it could not be read', async () => {
    const history = memoryHistory()
    await history.put(conversationOf())
    await deleteForNow({ ...history, get: () => Promise.resolve(undefined) }, 'c1')
    expect([await history.heads(), deleted.get()]).toEqual([[], undefined])
  })
})
