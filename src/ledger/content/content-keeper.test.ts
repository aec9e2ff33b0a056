import { describe, expect, test } from 'bun:test'
import type { TakenContent } from '../../content/taken-content.ts'
import { ContentKeeper, type ContentThread } from './content-keeper.ts'
import type { ContentResult } from './content-writer.ts'

const content = (id: string, bytes = 1): TakenContent => ({
  request: { time: 1, id },
  keepMs: 1,
  redact: [],
  question: { bytes: new Uint8Array(bytes), contentType: '' },
})

/** A keeper whose threads answer when the test says so. */
function keeperWith(waitingBytesMax?: number) {
  const written: string[][] = []
  const lost: (readonly [number, string])[] = []
  const threads: { readonly answer: PromiseWithResolvers<ContentResult>[]; isClosed: boolean }[] = []
  const asked: PromiseWithResolvers<void>[] = [Promise.withResolvers()]

  function start(): ContentThread {
    const thread = { answer: [] as PromiseWithResolvers<ContentResult>[], isClosed: false }
    threads.push(thread)
    return {
      write(taken) {
        written.push(taken.map(({ request }) => request.id))
        const answer = Promise.withResolvers<ContentResult>()
        thread.answer.push(answer)
        asked.at(-1)?.resolve()
        asked.push(Promise.withResolvers())
        return answer.promise
      },
      async close() {
        thread.isClosed = true
      },
    }
  }

  const keeper = new ContentKeeper({
    start,
    secrets: () => ({}),
    onLost: (requests, reason) => lost.push([requests, reason]),
    gatherMs: 0,
    ...(waitingBytesMax === undefined ? {} : { waitingBytesMax }),
  })
  /** Resolves when the thread was asked so many times. */
  const until = (times: number) => asked[times - 1]?.promise
  return { keeper, written, lost, threads, until }
}

describe('the keeper of content', () => {
  test('hands content over together, one message after the other', async () => {
    const { keeper, written, threads, until } = keeperWith()
    for (const id of ['a', 'b']) keeper.keep(content(id))
    expect(written).toEqual([])
    await until(1)
    keeper.keep(content('c'))
    keeper.keep(content('large', 5_000_000))
    keeper.keep(content('d'))
    expect(written).toEqual([['a', 'b']])
    for (let index = 0; index < 4; index += 1) {
      threads[0]?.answer[index]?.resolve({ lost: 0 })
      await Promise.race([until(index + 2), Bun.sleep(50)])
    }
    expect(written).toEqual([['a', 'b'], ['c'], ['large'], ['d']])
    await keeper.close()
    expect([threads.length, threads[0]?.isClosed]).toEqual([1, true])
  })

  test('gives content up beyond its memory, and what the thread could not store, and says so', async () => {
    const { keeper, lost, threads, until } = keeperWith(100)
    keeper.keep(content('a', 90))
    keeper.keep(content('b', 90))
    expect(lost).toEqual([[1, 'too much content waits to be stored']])
    await until(1)
    threads[0]?.answer[0]?.resolve({ lost: 1, reason: 'the database is away' })
    await Bun.sleep(0)
    keeper.keep(content('c', 90))
    await until(2)
    threads[0]?.answer[1]?.resolve({ lost: 0 })
    await keeper.close()
    // The second loss is reported with later ones, here at the end.
    expect(lost).toEqual([
      [1, 'too much content waits to be stored'],
      [1, 'the service has ended'],
    ])
  })

  test('starts another thread when one has ended', async () => {
    const { keeper, lost, threads, until } = keeperWith()
    keeper.keep(content('a'))
    await until(1)
    threads[0]?.answer[0]?.reject(new Error('ended'))
    await Bun.sleep(0)
    keeper.keep(content('b'))
    await until(2)
    expect([threads.length, lost]).toEqual([2, [[1, 'the thread that writes it has ended']]])
    threads[1]?.answer[0]?.resolve({ lost: 0 })
    await keeper.close()
  })

  test('without content starts none', async () => {
    const { keeper, threads } = keeperWith()
    await keeper.close()
    expect(threads).toEqual([])
  })
})
