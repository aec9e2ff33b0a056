import { describe, expect, test } from 'bun:test'
import { testAll, type TestProgress } from './test-all.ts'

function subject() {
  const open = new Map<string, (isOk: boolean) => void>()
  const seen: TestProgress[] = []
  const stopping = new AbortController()
  const begin = (ids: readonly string[]) =>
    testAll(ids, (id) => new Promise((resolve) => open.set(id, resolve)), {
      signal: stopping.signal,
      onProgress: (progress) => seen.push(progress),
    })
  async function end(id: string, isOk = true): Promise<void> {
    open.get(id)?.(isOk)
    open.delete(id)
    await Bun.sleep(0)
  }
  return { begin, end, open, seen, stopping }
}

describe('a test of all providers', () => {
  test('runs four at a time, in their order, and counts', async () => {
    const { begin, end, open, seen } = subject()
    const all = begin(['a', 'b', 'c', 'd', 'e', 'f'])
    expect([...open.keys()]).toEqual(['a', 'b', 'c', 'd'])
    await end('b', false)
    expect([...open.keys()]).toEqual(['a', 'c', 'd', 'e'])
    for (const id of ['a', 'c', 'd', 'e', 'f']) await end(id)
    expect(await all).toEqual({ done: 6, failed: 1, count: 6 })
    expect(seen.map(({ done, failed }) => `${done} ${failed}`)).toEqual([
      '0 0',
      '1 1',
      '2 1',
      '3 1',
      '4 1',
      '5 1',
      '6 1',
    ])
  })

  test('begins no more when it is stopped', async () => {
    const { begin, end, open, stopping } = subject()
    const all = begin(['a', 'b', 'c', 'd', 'e'])
    stopping.abort()
    for (const id of ['a', 'b', 'c', 'd']) await end(id)
    expect([await all, open.size]).toEqual([{ done: 4, failed: 0, count: 5 }, 0])
  })

  test('of none ends at once', async () => {
    expect(await subject().begin([])).toEqual({ done: 0, failed: 0, count: 0 })
  })
})
