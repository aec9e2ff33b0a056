import { describe, expect, test } from 'bun:test'
import { LocalBudgets } from './budget-authority.ts'
import type { Spending } from './opened-budgets.ts'
import { budgetOf, startedAt } from './testing-budgets.ts'

const hourMs = 3_600_000
const now = startedAt

function subject(sum: number | Error = 70) {
  const asked: number[] = []
  const clock = { now }
  const spending: Spending = {
    async sumSince(_scope, since) {
      asked.push(since)
      if (sum instanceof Error) throw sum
      return sum
    },
  }
  return { authority: new LocalBudgets({ spending, now: () => clock.now }), asked, clock }
}

describe('complaint: windows late, odd, never; old spend in a new budget', () => {
  test('are not: a window that begins while the authority counts starts at once with 0, without a question', () => {
    const { authority, asked } = subject()
    expect(authority.admit([budgetOf(now)], 100)).toMatchObject({ kind: 'held', amount: 100 })
    expect(asked).toEqual([])
  })

  test('are not: after the clock was set back the older window is as it was', () => {
    const { authority, asked } = subject()
    const settle = (start: number, cost: number) => {
      const answer = authority.admit([budgetOf(start)], cost)
      if (!(answer instanceof Promise) && answer.kind === 'held') authority.settle(answer.hold, cost)
    }
    settle(now, 60)
    settle(now + 24 * hourMs, 10)
    settle(now, 20)
    expect(authority.accounts.known(`everyone ${now}`)?.spent).toBe(80)
    expect(asked).toEqual([])
  })

  test('are forgotten a day after their end, and read again if the clock goes back further', async () => {
    const { authority, asked, clock } = subject()
    for (let window = 0; window < 2_000; window++) {
      clock.now = now + window * 24 * hourMs
      const answer = await authority.admit([budgetOf(clock.now)], 1)
      if (answer.kind === 'held') authority.settle(answer.hold, 1)
    }
    expect(authority.accounts.size).toBeLessThan(1_100)
    expect(asked).toEqual([])
    await authority.admit([budgetOf(now)], 1)
    expect(asked).toEqual([now])
  })
})

describe('the authority of the only process', () => {
  test('decides at once, and tells the state of budgets', async () => {
    const { authority } = subject()
    const answer = authority.admit([budgetOf(now)], 30)
    expect(answer).toMatchObject({ kind: 'held', amount: 30 })
    const hold = !(answer instanceof Promise) && answer.kind === 'held' ? answer.hold : -1
    authority.raise(hold, 45)
    expect(await authority.uses([budgetOf(now), budgetOf(now - hourMs)])).toEqual([
      { used: 0, held: 45 },
      { used: 70, held: 0 },
    ])
    authority.settle(hold, 5)
    expect(await authority.uses([budgetOf(now)])).toEqual([{ used: 5, held: 0 }])
  })
})
