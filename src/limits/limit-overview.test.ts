import { describe, expect, test } from 'bun:test'
import { callerOf } from '../people/caller-of.ts'
import type { Caller } from '../people/person.ts'
import { LearnedSizes } from '../prices/token-sizes.ts'
import type { AccessLimit, AccessPolicy, LimitSubject } from './access-policy.ts'
import { LimitAdmission } from './admission.ts'
import { LocalBudgets } from './budgets/budget-authority.ts'
import { MoneyLimits } from './budgets/money-limits.ts'
import { budgetPlan } from './budgets/named-budgets.ts'
import { OpenHolds } from './budgets/open-holds.ts'
import { limitOverview } from './limit-overview.ts'
import { Limiter } from './limiter.ts'

const noon = Date.UTC(2026, 10, 23, 12)
const midnight = Date.UTC(2026, 10, 24)

function entry(place: number, subject: LimitSubject, more: Partial<AccessLimit>): AccessLimit {
  return { place: `limits[${place}]`, subject, ...more }
}

function policyOf(...limits: readonly AccessLimit[]): AccessPolicy {
  return { timeZone: 'UTC', limits, teams: new Map() }
}

const ann: Caller = callerOf({ user: 'ann', userId: 'github:1' })
const annsKey: Caller = { ...ann, name: 'key:laptop', key: { line: 3 } }
const bob: Caller = callerOf({ user: 'bob', userId: 'github:2' })
const job: Caller = { name: 'key:job', key: { line: 9 } }

/** The overview of a policy in which these callers have asked once each, and these amounts are spent. */
async function overviewOf(
  policy: AccessPolicy,
  asked: readonly Caller[],
  spent: readonly { readonly caller: Caller; readonly cost: number; readonly isOpen?: boolean }[] = [],
) {
  const rates = new Limiter({ clock: () => 1_000 })
  rates.replace(policy)
  for (const caller of asked) expect(rates.admit(caller)).toBeInstanceOf(LimitAdmission)
  const authority = new LocalBudgets({ spending: { sumSince: async () => 0 }, now: () => noon })
  const budgets = new MoneyLimits({
    authority,
    now: () => noon,
    tokenSizes: new LearnedSizes(),
    openHolds: new OpenHolds(),
  })
  budgets.replace(policy)
  const plan = budgetPlan(policy, noon)
  for (const { caller, cost, isOpen = false } of spent) {
    const counting = plan.counting(caller, { provider: 'p', models: ['m'] }, noon)
    const answer = await authority.admit(counting, cost)
    if (answer.kind === 'held' && !isOpen) authority.settle(answer.hold, cost)
  }
  const callers = [...new Set([...spent.map(({ caller }) => caller), ...asked])]
  const { limits } = await limitOverview({ policy, limiter: rates, budgets, callers, now: noon })
  return limits
}

describe('the overview of limits', () => {
  test('has a row for each amount, in the order of the file, also of what was not used', async () => {
    const policy = policyOf(
      entry(
        0,
        { kind: 'everyone' },
        { usd: { nanoUsd: 5e9, per: 'day', isHard: false }, requests: { count: 60, per: 'minute' } },
      ),
      entry(1, { kind: 'team', name: 'search' }, { atOnce: 4, models: ['gpt-5*'] }),
      entry(2, { kind: 'provider', id: 'p' }, { usd: { nanoUsd: 1e9, per: 'total', isHard: false } }),
    )
    const rows = await overviewOf(policy, [ann], [{ caller: bob, cost: 400_000_000 }])
    expect(rows).toEqual([
      {
        ...{ place: 'limits[0]', subject: 'everyone', models: undefined, kind: 'requests', limit: 60, per: 'minute' },
        isApart: false,
        uses: [{ name: '', used: 1, remaining: 59, backAt: noon + 1_000 }],
      },
      {
        ...{ place: 'limits[0]', subject: 'everyone', models: undefined, kind: 'usd', limit: 5e9, per: 'day' },
        ...{ windowEnd: midnight, isApart: false },
        uses: [{ name: '', used: 4e8, held: 0, remaining: 4.6e9 }],
      },
      {
        ...{ place: 'limits[1]', subject: 'team:search', models: ['gpt-5*'], kind: 'at_once', limit: 4 },
        ...{ per: undefined, isApart: false },
        uses: [{ name: '', used: 0, remaining: 4 }],
      },
      {
        ...{ place: 'limits[2]', subject: 'provider:p', models: undefined, kind: 'usd', limit: 1e9, per: 'total' },
        isApart: false,
        uses: [{ name: '', used: 4e8, held: 0, remaining: 6e8 }],
      },
    ])
  })

  test('tells callers apart: people with their own keys, keys by their lines, the least left first', async () => {
    const policy = policyOf(
      entry(0, { kind: 'each person' }, { tokens: { count: 100, per: 'hour' }, requests: { count: 10, per: 'hour' } }),
      entry(1, { kind: 'each key' }, { usd: { nanoUsd: 1e9, per: 'month', isHard: false } }),
    )
    const spent = [
      { caller: job, cost: 2e8 },
      { caller: annsKey, cost: 6e8, isOpen: true },
    ]
    const [requests, tokens, money] = await overviewOf(policy, [bob, ann, annsKey], spent)
    expect(requests?.uses.map(({ name, used, remaining }) => [name, used, remaining])).toEqual([
      ['ann', 2, 8],
      ['bob', 1, 9],
    ])
    expect(tokens).toMatchObject({ kind: 'tokens', limit: 100, per: 'hour', isApart: true })
    expect(money?.uses).toEqual([
      { name: 'laptop (key 3)', used: 0, held: 6e8, remaining: 4e8 },
      { name: 'job (key 9)', used: 2e8, held: 0, remaining: 8e8 },
    ])
  })

  test('names a key of access.json without its number', async () => {
    const caller = { name: 'key:ci', key: { line: -5 } }
    const [row] = await overviewOf(policyOf(entry(0, { kind: 'each key' }, { atOnce: 1 })), [caller])
    expect(row?.uses[0]?.name).toBe('ci (access.json)')
  })

  test('lists 200 callers of a limit at most', async () => {
    const policy = policyOf(entry(0, { kind: 'each key' }, { atOnce: 1 }))
    const keys = Array.from({ length: 300 }, (_, index): Caller => ({
      name: 'key:a',
      key: { line: index + 1 },
    }))
    const [row] = await overviewOf(policy, keys)
    expect(row?.uses).toHaveLength(200)
  })

  test('is empty without limits', async () => {
    const none = { policy: policyOf(), limiter: undefined, budgets: undefined, callers: [ann], now: noon }
    expect((await limitOverview(none)).limits).toEqual([])
  })
})
