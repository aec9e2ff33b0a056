import { describe, expect, test } from 'bun:test'
import type { HistoryStore } from './conversation.ts'
import { followHeads, type HeadsFollower, type HeadsState } from './heads-state.ts'
import { memoryHistory } from './memory-history.ts'
import { conversationOf } from './testing.ts'

const idsOf = (state: HeadsState): string =>
  state.kind === 'ready' ? state.heads.map(({ id }) => id).join(' ') : state.kind

/** Resolves when the list has these titles. */
function becomes({ state }: HeadsFollower, expected: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = state.subscribe(look)
    function look(): void {
      if (idsOf(state.get()) !== expected) return
      stop()
      resolve()
    }
    look()
  })
}

/** A history that counts reads. */
function counted(): { readonly history: HistoryStore; readonly reads: { heads: number; head: number } } {
  const history = memoryHistory(),
    reads = { heads: 0, head: 0 }
  return {
    reads,
    history: {
      ...history,
      heads() {
        reads.heads++
        return history.heads()
      },
      head(id) {
        reads.head++
        return history.head(id)
      },
    },
  }
}

describe('the list', () => {
  test('follows added, changed and removed conversations, and reads only those', async () => {
    const { history, reads } = counted()
    await history.put(conversationOf({ id: 'a', updated: 1 }))
    const list = followHeads(history),
      stop = list.start()
    expect(list.state.get().kind).toBe('loading')
    await becomes(list, 'a')
    await history.put(conversationOf({ id: 'b', updated: 2 }))
    await becomes(list, 'b a')
    await history.amend('a', { isPinned: true })
    await becomes(list, 'a b')
    await history.remove('a')
    await becomes(list, 'b')
    expect(reads).toEqual({ heads: 1, head: 3 })
    stop()
  })

  test('is read as a whole after many changes', async () => {
    const { history, reads } = counted()
    const list = followHeads(history),
      stop = list.start()
    await becomes(list, '')
    for (let index = 0; index < 100; index++) void history.put(conversationOf({ id: `c${index}` }))
    await becomes(list, (await history.heads()).map(({ id }) => id).join(' '))
    expect(reads.head).toBeLessThanOrEqual(20)
    await history.clear()
    await becomes(list, '')
    stop()
  })

  test('has the error of a failed read, and can retry', async () => {
    let failure: Error | undefined = new Error('disk')
    const history = memoryHistory()
    const list = followHeads({
        ...history,
        heads: () => (failure === undefined ? history.heads() : Promise.reject(failure)),
      }),
      stop = list.start()
    await becomes(list, 'failed')
    failure = undefined
    list.refresh()
    await becomes(list, '')
    stop()
  })

  test('does not change after it was stopped', async () => {
    const history = memoryHistory(),
      list = followHeads(history),
      stop = list.start()
    await becomes(list, '')
    stop()
    await history.put(conversationOf())
    expect(idsOf(list.state.get())).toBe('')
  })
})
