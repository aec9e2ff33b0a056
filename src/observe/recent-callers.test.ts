import { describe, expect, test } from 'bun:test'
import { usedRequest as record } from '../ledger/use/testing.ts'
import { recentCallers } from './recent-callers.ts'

describe('the recent callers', () => {
  test('have each caller once, the last one first, and none without a name', () => {
    const callers = recentCallers()
    for (const caller of [
      { user: 'ann', userId: 'github:1' },
      { user: 'key:job', line: 3 },
      {},
      { user: 'anna', userId: 'github:1' },
      { user: 'key:job', line: 4, person: { user: 'bob', userId: 'github:2' } },
    ])
      callers.note(record(caller))
    expect(callers.list()).toEqual([
      { user: 'key:job', userId: undefined, line: 4, person: { user: 'bob', userId: 'github:2' } },
      { user: 'anna', userId: 'github:1', line: undefined, person: undefined },
      { user: 'key:job', userId: undefined, line: 3, person: undefined },
    ])
  })

  test('are 1,000 at most: the one that has not asked for longest is forgotten', () => {
    const callers = recentCallers()
    for (let line = 1; line <= 1_000; line += 1) callers.note(record({ user: 'key:a', line }))
    callers.note(record({ user: 'key:a', line: 1 }))
    callers.note(record({ user: 'key:a', line: 1_001 }))
    const lines = callers.list().map(({ line }) => line)
    expect(lines.length).toBe(1_000)
    expect(lines.slice(0, 2)).toEqual([1_001, 1])
    expect(lines).not.toContain(2)
  })
})
