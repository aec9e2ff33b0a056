import { expect, test } from 'bun:test'
import { changes } from './changes.ts'
import { historyStore } from './history-store.ts'
import { memoryBackend } from './memory-backend.ts'
import { conversationOf, failureOf } from './testing.ts'

test('a conversation whose first write failed does not count as removed', async () => {
  const backend = memoryBackend()
  let isBroken = true
  const history = historyStore(
    {
      ...backend,
      put: (conversation, mustExist) =>
        isBroken ? Promise.reject(new Error('disk')) : backend.put(conversation, mustExist),
    },
    changes(),
    () => undefined,
  )
  expect(await failureOf(history.put(conversationOf()))).toEqual(new Error('disk'))
  isBroken = false
  await history.put(conversationOf())
  expect(await history.all()).toEqual([conversationOf()])
})
