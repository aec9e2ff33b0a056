import { describe, expect, test } from 'bun:test'
import { localBudgetAuthority } from './budget-authority.ts'
import type { Spending } from './opened-budgets.ts'
import { budgetHandlers, remoteBudgetAuthority } from './remote-budget-authority.ts'
import { budgetContract, budgetOf, startedAt } from './testing-budgets.ts'

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
  return { authority: localBudgetAuthority({ spending, now: () => clock.now }), asked, clock }
}

budgetContract('an authority in one of the processes', async (options) => {
  const shared = localBudgetAuthority(options)
  return () => {
    const owner = {}
    return {
      authority: { ...shared, admit: (budgets, estimate) => shared.admitFor(owner, budgets, estimate) },
      arrived: async () => undefined,
      crash: async () => shared.abandon(owner),
    }
  }
})

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
    expect(authority.book.state(`everyone ${now}`)?.spent).toBe(80)
    expect(asked).toEqual([])
  })

  test('are forgotten a day after their end, and read again if the clock goes back further', async () => {
    const { authority, asked, clock } = subject()
    for (let window = 0; window < 2_000; window++) {
      clock.now = now + window * 24 * hourMs
      const answer = await authority.admit([budgetOf(clock.now)], 1)
      if (answer.kind === 'held') authority.settle(answer.hold, 1)
    }
    expect(authority.book.budgets).toBeLessThan(1_100)
    expect(asked).toEqual([])
    await authority.admit([budgetOf(now)], 1)
    expect(asked).toEqual([now])
  })
})

describe('an authority that other processes ask', () => {
  test('books the holds of a process that has ended, and holds nothing more for it', async () => {
    const { authority } = subject()
    const worker = {}
    const { admitBudgets } = budgetHandlers(authority, worker)
    expect(await admitBudgets({ budgets: [budgetOf(now)], estimate: 30 })).toMatchObject({ kind: 'held' })
    const late = admitBudgets({ budgets: [budgetOf(now - hourMs)], estimate: 30 })
    authority.abandon(worker)
    expect((await late).kind).toBe('refused')
    expect(authority.book.holds).toBe(0)
    expect(authority.book.state(`everyone ${now}`)).toEqual({ limit: 100, spent: 30, held: 0 })
  })

  test('answers as a local one, and tells the state of budgets', async () => {
    const { authority } = subject()
    const remote = remoteBudgetAuthority(budgetHandlers(authority, {}))
    const answer = await remote.admit([budgetOf(now)], 30)
    expect(answer).toMatchObject({ kind: 'held', amount: 30 })
    const hold = answer.kind === 'held' ? answer.hold : -1
    remote.raise(hold, 45)
    expect(await remote.uses([budgetOf(now), budgetOf(now - hourMs)])).toEqual([
      { used: 0, held: 45 },
      { used: 70, held: 0 },
    ])
    remote.settle(hold, 5)
    expect(await remote.uses([budgetOf(now)])).toEqual([{ used: 5, held: 0 }])
  })

  test('that does not answer in time refuses, and releases the hold that comes later', async () => {
    const settled: unknown[] = []
    const answering = Promise.withResolvers<{ kind: 'held'; hold: number; amount: number }>()
    const connection = {
      admitBudgets: () => answering.promise,
      raiseHold: () => undefined,
      settleHold: (each: object) => void settled.push(each),
      budgetUses: async () => [],
    }
    const remote = remoteBudgetAuthority(connection, 1)
    await expect(Promise.resolve(remote.admit([budgetOf(now)], 1))).rejects.toThrow('no answer about budgets')
    answering.resolve({ kind: 'held', hold: 7, amount: 1 })
    await answering.promise
    await Bun.sleep(0)
    expect(settled).toEqual([{ hold: 7, cost: 0 }])
  })
})
