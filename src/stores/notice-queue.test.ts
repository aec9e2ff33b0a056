import { describe, expect, test } from 'bun:test'
import { noticeQueue, type Telling } from './notice-queue.ts'
import { noticeKeptMsMost, noticeLengthMost } from './store.ts'

/** A queue whose batches a test settles, one after the other. */
function queue() {
  const batches: { readonly texts: readonly string[]; readonly settled: PromiseWithResolvers<void> }[] = []
  const tell = noticeQueue((batch: readonly Telling[]) => {
    const settled = Promise.withResolvers<void>()
    batches.push({ texts: batch.map(({ text }) => text), settled })
    return settled.promise
  })
  async function settle(index: number, error?: Error): Promise<void> {
    if (error === undefined) batches[index]?.settled.resolve()
    else batches[index]?.settled.reject(error)
    // A turn for each step from there to the next batch.
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  }
  return { tell, settle, batches: () => batches.map(({ texts }) => texts) }
}

describe('what is to be told', () => {
  test('is told at once, and what comes meanwhile in one batch after it', async () => {
    const { tell, settle, batches } = queue()
    for (const text of ['a', 'b', 'c']) tell(text)
    expect(batches()).toEqual([['a']])
    await settle(0)
    expect(batches()).toEqual([['a'], ['b', 'c']])
    await settle(1)
    tell('d')
    expect(batches()).toEqual([['a'], ['b', 'c'], ['d']])
  })

  test('under one key is told once: the last', async () => {
    const { tell, settle, batches } = queue()
    tell('a')
    for (const text of ['b', 'c', 'd']) tell(text, { key: text === 'c' ? 'other' : 'key', ms: 1 })
    await settle(0)
    expect(batches()[1]).toEqual(['c', 'd'])
  })

  test('is dropped when the store is away, and told again when it is back', async () => {
    const { tell, settle, batches } = queue()
    for (const text of ['a', 'b', 'c']) tell(text)
    await settle(0, new Error('away'))
    tell('d')
    expect(batches()).toEqual([['a'], ['d']])
  })

  test('is bounded: the oldest that wait are dropped', async () => {
    const { tell, settle, batches } = queue()
    for (let index = 0; index < 1_000; index++) tell(`${index}`)
    await settle(0)
    expect([batches()[1]?.length, batches()[1]?.[0], batches()[1]?.at(-1)]).toEqual([256, '744', '999'])
  })

  test.each([['too long a text', 'x'.repeat(noticeLengthMost + 1), undefined], ['too long a key', 'x', { key: 'x'.repeat(201), ms: 1 }], ['too long a time', 'x', { key: 'x', ms: noticeKeptMsMost + 1 }], ['no time', 'x', { key: 'x', ms: Number.NaN }], ['a negative one', 'x', { key: 'x', ms: -1 }]])(
    'is nothing with %s', (_what, text, kept) => {
      const { tell, batches } = queue()
      tell(text, kept)
      expect(batches()).toEqual([])
    })
})
