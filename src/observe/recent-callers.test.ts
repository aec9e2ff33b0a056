import { describe, expect, test } from 'bun:test'
import { usedRequest as record } from '../ledger/use/testing.ts'
import { callerOf } from '../people/caller-of.ts'
import { personOf, sentBy } from '../people/testing.ts'
import { recentCallers } from './recent-requests.ts'

describe('the recent callers', () => {
  test('have each caller once, the last one first, and none without a name', () => {
    const callers = recentCallers()
    const bob = personOf({ user: 'bob', userId: 'github:2' })
    for (const caller of [
      sentBy({ user: 'ann', userId: 'github:1' }),
      { user: 'key:job', line: 3 },
      {},
      sentBy({ user: 'anna', userId: 'github:1' }),
      { user: 'key:job', line: 4, person: bob },
    ])
      callers.note(record(caller))
    expect(callers.list()).toEqual([
      { name: 'key:job', person: bob, key: { line: 4 } },
      callerOf({ user: 'anna', userId: 'github:1' }),
      { name: 'key:job', key: { line: 3 } },
    ])
  })

  test('are 1,000 at most: the one that has not asked for longest is forgotten', () => {
    const callers = recentCallers()
    for (let line = 1; line <= 1_000; line += 1) callers.note(record({ user: 'key:a', line }))
    callers.note(record({ user: 'key:a', line: 1 }))
    callers.note(record({ user: 'key:a', line: 1_001 }))
    const lines = callers.list().map(({ key }) => key?.line)
    expect(lines.length).toBe(1_000)
    expect(lines.slice(0, 2)).toEqual([1_001, 1])
    expect(lines).not.toContain(2)
  })
})
