import { expect, test } from 'bun:test'
import { changes } from './changes.ts'
import { historyOver } from './history-over.ts'
import { memoryShelf } from './memory-shelf.ts'
import { conversationOf, failureOf } from './testing.ts'

test('what could not be put once is not taken for removed the next time', async () => {
  const shelf = memoryShelf()
  let isBroken = true
  const history = historyOver(
    {
      ...shelf,
      put: (conversation, mustBeThere) =>
        isBroken ? Promise.reject(new Error('disk')) : shelf.put(conversation, mustBeThere),
    },
    changes(),
    () => undefined,
  )
  expect(await failureOf(history.put(conversationOf()))).toEqual(new Error('disk'))
  isBroken = false
  await history.put(conversationOf())
  expect(await history.all()).toEqual([conversationOf()])
})
