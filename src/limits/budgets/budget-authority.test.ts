import { describe, expect, test } from 'bun:test'
import { localBudgetAuthority, type AskedBudget, type Spending } from './budget-authority.ts'
import { budgetHandlers, remoteBudgetAuthority } from './remote-budget-authority.ts'

const hourMs = 3_600_000
const now = 100 * hourMs

function budget(start: number, more: Partial<AskedBudget> = {}): AskedBudget {
  const scope = { subject: { kind: 'everyone' }, caller: '', members: [], models: undefined } as const
  const window = { start, end: start + 24 * hourMs }
  return { id: `everyone ${start}`, nanoUsd: 100, window, activeSince: 0, scope, ...more }
}

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

describe('spend forgotten by restarts, or per replica', () => {
  test('is not so: a budget starts with what was spent since the start of its window, read once', async () => {
    const { authority, asked } = subject()
    const answers = await Promise.all([1, 2].map(() => authority.admit([budget(now - hourMs)], 20)))
    expect(answers.map(({ kind }) => kind)).toEqual(['held', 'held'])
    expect(answers[1]).toMatchObject({ amount: 10 })
    expect(asked).toEqual([now - hourMs])
  })

  test('is not so: while the sums cannot be read, attempts are refused, and then they are read again', async () => {
    const { authority, asked } = subject(new Error('locked'))
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(Promise.resolve(authority.admit([budget(now - hourMs)], 1))).rejects.toThrow('locked')
    expect(asked).toHaveLength(2)
    expect(authority.book.holds).toBe(0)
  })
})

describe('windows late, odd, never; old spend in a new budget', () => {
  test('are not: a window that begins while the authority counts starts at once with 0, without a question', () => {
    const { authority, asked } = subject()
    expect(authority.admit([budget(now)], 100)).toMatchObject({ kind: 'held', amount: 100 })
    expect(asked).toEqual([])
  })

  test('are not: a limit that was added within a window starts with what was spent in it', async () => {
    const { authority, asked } = subject()
    await authority.admit([budget(now + hourMs, { activeSince: now + 2 * hourMs })], 1)
    expect(asked).toEqual([now + hourMs])
  })

  test('are not: the sum is read again for a limit that was away for a while, once', async () => {
    const { authority, asked, clock } = subject()
    await authority.admit([budget(now)], 1)
    clock.now = now + 2 * hourMs
    const back = budget(now, { activeSince: now + hourMs })
    await authority.admit([back], 1)
    await authority.admit([back], 1)
    expect(asked).toEqual([now])
    expect(authority.book.state(back.id)).toMatchObject({ spent: 70, held: 3 })
  })

  test('are not: after the clock was set back the older window is as it was', () => {
    const { authority, asked } = subject()
    const settle = (start: number, cost: number) => {
      const answer = authority.admit([budget(start)], cost)
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
      const answer = await authority.admit([budget(clock.now)], 1)
      if (answer.kind === 'held') authority.settle(answer.hold, 1)
    }
    expect(authority.book.budgets).toBeLessThan(1_100)
    expect(asked).toEqual([])
    await authority.admit([budget(now)], 1)
    expect(asked).toEqual([now])
  })
})

describe('an authority that other processes ask', () => {
  test('books the holds of a process that has ended, and holds nothing more for it', async () => {
    const { authority } = subject()
    const worker = {}
    const { admitBudgets } = budgetHandlers(authority, worker)
    expect(await admitBudgets({ budgets: [budget(now)], estimate: 30 })).toMatchObject({ kind: 'held' })
    const late = admitBudgets({ budgets: [budget(now - hourMs)], estimate: 30 })
    authority.abandon(worker)
    expect((await late).kind).toBe('refused')
    expect(authority.book.holds).toBe(0)
    expect(authority.book.state(`everyone ${now}`)).toEqual({ limit: 100, spent: 30, held: 0 })
  })

  test('answers as a local one, and tells the state of budgets', async () => {
    const { authority } = subject()
    const remote = remoteBudgetAuthority(budgetHandlers(authority, {}))
    const answer = await remote.admit([budget(now)], 30)
    expect(answer).toMatchObject({ kind: 'held', amount: 30 })
    const hold = answer.kind === 'held' ? answer.hold : -1
    remote.raise(hold, 45)
    expect(await remote.uses([budget(now), budget(now - hourMs)])).toEqual([
      { used: 0, held: 45 },
      { used: 70, held: 0 },
    ])
    remote.settle(hold, 5)
    expect(await remote.uses([budget(now)])).toEqual([{ used: 5, held: 0 }])
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
    await expect(Promise.resolve(remote.admit([budget(now)], 1))).rejects.toThrow('no answer about budgets')
    answering.resolve({ kind: 'held', hold: 7, amount: 1 })
    await answering.promise
    await Bun.sleep(0)
    expect(settled).toEqual([{ hold: 7, cost: 0 }])
  })
})
