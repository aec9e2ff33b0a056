import { describe, expect, test } from 'bun:test'
import { writeNoticeMessage } from './notice-message.ts'
import { redisHearing, type KeptMessage } from './redis-hearing.ts'

const secondMs = 20
const said = (text: string, from = 'other'): string => writeNoticeMessage(from, text, undefined)

/** Somebody who hears, and the reads of what is kept, for a test to answer. */
function listener() {
  const heard: string[] = [],
    reads: PromiseWithResolvers<readonly KeptMessage[]>[] = []
  let wake = (): void => undefined
  const hearing = redisHearing({
    from: 'me',
    secondMs,
    hear: (text) => void heard.push(text),
    readKept() {
      const read = Promise.withResolvers<readonly KeptMessage[]>()
      reads.push(read)
      wake()
      return read.promise
    },
  })
  async function readAt(index: number): Promise<PromiseWithResolvers<readonly KeptMessage[]>> {
    while (reads[index] === undefined)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    return reads[index]
  }
  return { hearing, heard, reads, readAt }
}

function flood({ hearing }: ReturnType<typeof listener>): void {
  // More than any two seconds may hold.
  for (let count = 0; count < 100_000; count += 1) hearing.take(said('flood'))
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
}

describe('hearing', () => {
  test('is of others alone, in order, and asks for nothing while there is room', () => {
    const { hearing, heard, reads } = listener()
    for (const message of [said('a'), said('mine', 'me'), 'no notice', said('b')]) hearing.take(message)
    expect([heard, reads.length]).toEqual([['a', 'b'], 0])
  })

  test('what was too much to hear is made up for by what is kept', async () => {
    const all = listener()
    flood(all)
    all.hearing.take(said('well again'))
    expect(all.heard.at(-1)).toBe('flood')
    const read = await all.readAt(0)
    read.resolve([
      [said('well again'), 5_000],
      [said('mine', 'me'), 5_000],
    ])
    await turns()
    expect(all.heard.at(-1)).toBe('well again')
    all.hearing.close()
  })

  test('what comes while that is read is heard after it; what is too much of that is made up for in turn', async () => {
    const all = listener(),
      begun = all.hearing.catchUp()
    const first = await all.readAt(0)
    for (let count = 0; count < 1_100; count += 1) all.hearing.take(said(`${count}`))
    first.resolve([[said('kept'), 1_000]])
    await begun
    expect([all.heard[0], all.heard[1], all.heard.length > 999]).toEqual(['kept', '0', true])
    const second = await all.readAt(1)
    second.resolve([[said('1099'), 1_000]])
    await turns()
    expect(all.heard.at(-1)).toBe('1099')
    all.hearing.close()
  })

  test('is tried again when what is kept cannot be read', async () => {
    const all = listener()
    flood(all)
    const first = await all.readAt(0)
    first.reject(new Error('away'))
    const second = await all.readAt(1)
    second.resolve([[said('well again'), 5_000]])
    await turns()
    expect(all.heard.at(-1)).toBe('well again')
    all.hearing.close()
  })

  test('is over when it is closed', async () => {
    const all = listener()
    flood(all)
    all.hearing.close()
    all.hearing.take(said('late'))
    await Bun.sleep(3 * secondMs)
    expect([all.reads.length, all.heard.includes('late')]).toEqual([0, false])
  })
})
