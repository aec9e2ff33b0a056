import { describe, expect, test } from 'bun:test'
import { noticeQueue, type Telling } from './notice-queue.ts'
import { noticeKeptMsMost, noticeLengthMost } from './store.ts'

/** A queue whose batches a test settles, one after the other. */
function queue(now: () => number = () => 0, againMs = 1_000) {
  const batches: {
    readonly batch: readonly Telling[]
    readonly texts: readonly string[]
    readonly settled: PromiseWithResolvers<void>
  }[] = []
  const { tell, close } = noticeQueue(
    (batch: readonly Telling[]) => {
      const settled = Promise.withResolvers<void>()
      batches.push({ batch, texts: batch.map(({ text }) => text), settled })
      return settled.promise
    },
    { now, againMs },
  )
  async function settle(index: number, error?: Error): Promise<void> {
    if (error === undefined) batches[index]?.settled.resolve()
    else batches[index]?.settled.reject(error)
    // A turn for each step from there to the next batch.
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  }
  async function until(count: number): Promise<void> {
    while (batches.length < count) await Bun.sleep(1)
  }
  return {
    tell,
    close,
    settle,
    until,
    batches: () => batches.map(({ texts }) => texts),
    kept: (index: number) => batches[index]?.batch.map(({ kept }) => kept?.ms),
  }
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

  test('is told again, when it is kept and was refused, with the time it has left: the last under each key', async () => {
    let time = 0
    const { tell, settle, until, batches, kept } = queue(() => time, 1)
    tell('old', { key: 'a', ms: 5_000 })
    tell('lost')
    for (const key of ['b', 'c', 'd']) tell(`ill ${key}`, { key, ms: 5_000 })
    tell('well', { key: 'a', ms: 60_000 })
    await settle(0)
    tell('better', { key: 'b', ms: 60_000 })
    time = 4_000
    await settle(1, new Error('away'))
    tell('short', { key: 'c', ms: 500 })
    await until(3)
    expect(batches()[2]).toEqual(['ill d', 'well', 'better', 'short'])
    expect(kept(2)).toEqual([1_000, 56_000, 56_000, 500])
    time = 5_500
    await settle(2, new Error('away'))
    tell('news', { key: 'e', ms: 1_000 })
    await until(4)
    expect([batches()[3], kept(3)]).toEqual([
      ['well', 'better', 'news'],
      [54_500, 54_500, 1_000],
    ])
  })

  test('waits for the end of the pause after a refusal, whatever there is to tell; what only passes is dropped meanwhile', async () => {
    let time = 0
    const { tell, settle, until, batches, kept, close } = queue(() => time, 20)
    tell('ill', { key: 'a', ms: 5_000 })
    await settle(0, new Error('away'))
    tell('passing')
    tell('well', { key: 'a', ms: 5_000 })
    expect(batches()).toEqual([['ill']])
    time = 1_000
    await until(2)
    expect(kept(1)).toEqual([4_000])
    tell('then')
    await settle(1)
    expect(batches()).toEqual([['ill'], ['well'], ['then']])
    close()
  })

  test('is told again by itself, and no more when it is closed', async () => {
    const { tell, settle, until, batches, close } = queue(() => 0, 1)
    tell('well', { key: 'a', ms: 5_000 })
    await settle(0, new Error('away'))
    await until(2)
    expect(batches()).toEqual([['well'], ['well']])
    close()
    await settle(1, new Error('away'))
    await Bun.sleep(10)
    expect(batches().length).toBe(2)
  })

  test('gives no last state up for what only passes', async () => {
    const { tell, settle, batches } = queue()
    tell('first')
    tell('well', { key: 'a', ms: 5_000 })
    for (let index = 0; index < 1_000; index++) tell(`${index}`)
    await settle(0)
    expect([batches()[1]?.[0], batches()[1]?.length]).toEqual(['well', 257])
  })

  test('is bounded: the oldest that wait are dropped', async () => {
    const { tell, settle, batches } = queue()
    for (let index = 0; index < 1_000; index++) tell(`${index}`)
    await settle(0)
    expect([batches()[1]?.length, batches()[1]?.[0], batches()[1]?.at(-1)]).toEqual([256, '744', '999'])
  })

  test.each([
    ['too long a text', 'x'.repeat(noticeLengthMost + 1), undefined],
    ['too long a key', 'x', { key: 'x'.repeat(201), ms: 1 }],
    ['too long a time', 'x', { key: 'x', ms: noticeKeptMsMost + 1 }],
    ['no time', 'x', { key: 'x', ms: Number.NaN }],
    ['a negative one', 'x', { key: 'x', ms: -1 }],
  ])('is nothing with %s', (_what, text, kept) => {
    const { tell, batches } = queue()
    tell(text, kept)
    expect(batches()).toEqual([])
  })
})
