import { describe, expect, test } from 'bun:test'
import type { ProviderTest } from '../../src/http/page/page-api.ts'
import { progressOf, testAll } from './test-all.ts'

function subject() {
  const open = new Map<string, (isOk: boolean) => void>()
  const stopping = new AbortController()
  const begin = (ids: readonly string[]) =>
    testAll(ids, (id) => new Promise((resolve) => open.set(id, resolve)), stopping.signal)
  async function end(id: string, isOk = true): Promise<void> {
    open.get(id)?.(isOk)
    open.delete(id)
    await Bun.sleep(0)
  }
  return { begin, end, open, stopping }
}

describe('a test of all providers', () => {
  test('runs four at a time, in their order, and counts', async () => {
    const { begin, end, open } = subject()
    const all = begin(['a', 'b', 'c', 'd', 'e', 'f'])
    expect([...open.keys()]).toEqual(['a', 'b', 'c', 'd'])
    await end('b', false)
    expect([...open.keys()]).toEqual(['a', 'c', 'd', 'e'])
    for (const id of ['a', 'c', 'd', 'e', 'f']) await end(id)
    expect(await all).toEqual({ done: 6, failed: 1 })
  })

  test('begins no more when it is stopped', async () => {
    const { begin, end, open, stopping } = subject()
    const all = begin(['a', 'b', 'c', 'd', 'e'])
    stopping.abort()
    for (const id of ['a', 'b', 'c', 'd']) await end(id)
    expect([await all, open.size]).toEqual([{ done: 4, failed: 0 }, 0])
  })

  test('of none ends at once', async () => {
    expect(await subject().begin([])).toEqual({ done: 0, failed: 0 })
  })
})

test('a provider counts by its last test, and not while it is tested', () => {
  const ids = ['a', 'b', 'c', 'd']
  const passed: ProviderTest = { ok: true, ms: 1 }
  const failed: ProviderTest = { ok: false, ms: 1, failure: 'credential' }
  const tests = new Map<string, ProviderTest | 'running'>([
    ['a', failed],
    ['b', passed],
    ['c', 'running'],
    ['gone', failed],
  ])
  expect(progressOf(ids, tests)).toEqual({ done: 2, failed: 1 })
  expect(progressOf(ids, tests.set('a', passed))).toEqual({ done: 2, failed: 0 })
})
