import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Alert } from '../../observe/webhook/webhook.ts'
import { LimitAuthority } from '../authority.ts'
import { LocalBudgets, type BudgetAuthority } from './budget-authority.ts'
import { budgetOf, startedAt } from './testing-budgets.ts'
import { crossedShare } from './thresholds.ts'

const now = () => startedAt

/** A process that decides, of which the ledger knows this much, and its alerts. */
function processWith(spent: number) {
  const alerts: Alert[] = []
  const source = {
    spending: { sumSince: async () => spent },
    now,
    onCrossed: (alert: Alert) => void alerts.push(alert),
  }
  return { alerts, authority: new LocalBudgets(source) }
}

async function spend(authority: BudgetAuthority, cost: number, budget = budgetOf(0)): Promise<void> {
  const answer = await authority.admit([budget], 0)
  if (answer.kind === 'held') authority.settle(answer.hold, cost)
}

describe('thresholds of a budget', () => {
  test('are reached at most once a window, also over restarts, and the highest one always is', async () => {
    const step = fc.record({ cost: fc.nat(40), isRestart: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        let spent = 0
        let running = processWith(0)
        const found: unknown[] = []
        for (const { cost, isRestart } of steps) {
          await spend(running.authority, cost)
          spent += cost
          found.push(...running.alerts.splice(0).map(({ data }) => data['percent']))
          if (isRestart) running = processWith(spent)
        }
        expect(new Set(found).size).toBe(found.length)
        expect(found.at(-1)).toBe([100, 80, 50].find((share) => spent >= share))
        expect(found).toEqual(found.toSorted((one, other) => Number(one) - Number(other)))
      }),
      { numRuns: 300 },
    )
  })

  test('begin again in the next window', async () => {
    const { authority, alerts } = processWith(0)
    for (const start of [0, 86_400_000]) await spend(authority, 60, budgetOf(start))
    expect(alerts).toHaveLength(2)
    expect(new Set(alerts.map(({ identity }) => identity)).size).toBe(2)
  })

  test.each<[number, number, number, ReturnType<typeof crossedShare>]>([
    [0, 100, 0, undefined],
    [49, 50, 100, 50],
    [50, 79, 100, undefined],
    [0, 81, 100, 80],
    [0, 500, 100, 100],
    [100, 500, 100, undefined],
    [7.9e15, 8e15, 1e16, 80],
  ])('of %d spent before, %d after, and a limit of %d are %p', (before, after, most, share) => {
    expect(crossedShare(before, after, most)).toBe(share)
  })

  test('have the words of the limit and its amounts, and of a key its id', async () => {
    const { authority, alerts } = processWith(0)
    const scope = { subject: { kind: 'each key' }, caller: 'key:12', members: [], models: undefined } as const
    const window = { start: 0, end: Infinity }
    await spend(authority, 4e9, budgetOf(0, { text: 'each key, in total', most: 5e9, scope, window }))
    expect(alerts[0]?.data).toEqual({
      ...{ limit: 'each key, in total', key: 12, percent: 80, limit_usd: 5, spent_usd: 4 },
      ...{ window_start: '1970-01-01T00:00:00.000Z', window_end: null },
    })
  })

  test('name no person', async () => {
    const { authority, alerts } = processWith(0)
    const scope = { subject: { kind: 'each person' }, caller: 'person:ann', members: [], models: undefined } as const
    await spend(authority, 80, budgetOf(0, { text: 'each person, a day', scope }))
    expect(JSON.stringify(alerts[0]?.data)).not.toContain('ann')
  })

  test('are found by the process that decides for workers, from what they report', async () => {
    const alerts: Alert[] = []
    const authority = new LimitAuthority({
      ...{ processes: 1, clock: () => 0, spending: { sumSince: async () => 0 }, now },
      onCrossed: (alert) => void alerts.push(alert),
    })
    const budget = budgetOf(0)
    const worker = authority.joined({ callBack: async () => new Map() })
    await worker.claim([{ spec: budget, amount: 85, recent: 0 }])
    const money = { spent: 85, opened: -85, dearest: 85, raised: 0, endsShort: false }
    worker.report(new Map([[budget.key, { returned: 0, mayReturn: false, money }]]))
    expect(alerts.map(({ data }) => data['percent'])).toEqual([80])
  })
})
