import { describe, expect, test } from 'bun:test'
import { callerOf } from '../../people/caller-of.ts'
import type { Caller } from '../../people/person.ts'
import type { AccessLimit, AccessPolicy, LimitSubject, MoneyPeriod } from '../access-policy.ts'
import { budgetPlan, isOwnBudget } from './named-budgets.ts'

const now = Date.UTC(2026, 10, 23, 12)
const dayMs = 86_400_000

function limit(subject: LimitSubject, per: MoneyPeriod = 'day', models?: readonly string[]): AccessLimit {
  const usd = { nanoUsd: 1e9, per, isHard: false }
  return { place: 'limits[0]', subject, usd, ...(models === undefined ? {} : { models }) }
}

function policy(...limits: readonly AccessLimit[]): AccessPolicy {
  const teams = new Map([['search', { leads: ['ann'], members: ['bob', 'id:github:7'] }]])
  return { timeZone: 'UTC', limits, teams }
}

const ann: Caller = callerOf({ user: 'ann' })
const key: Caller = { name: 'key:job', key: { line: 4 } }
const place = { provider: 'openai', models: ['gpt-5-mini', 'mini'] }

describe('the budgets that count an attempt', () => {
  test.each([
    [{ kind: 'everyone' }, {}, true],
    [{ kind: 'each person' }, ann, true],
    [{ kind: 'each person' }, key, false],
    [{ kind: 'each person' }, {}, false],
    [{ kind: 'each key' }, key, true],
    [{ kind: 'key', line: 4 }, key, true],
    [{ kind: 'key', line: 5 }, key, false],
    [{ kind: 'person', name: 'ann' }, ann, true],
    [{ kind: 'person', name: 'id:7' }, callerOf({ user: 'ann', userId: '7' }), true],
    [{ kind: 'team', name: 'search' }, ann, true],
    [{ kind: 'team', name: 'search' }, callerOf({ user: 'x', userId: 'github:7' }), true],
    [{ kind: 'team', name: 'search' }, callerOf({ user: 'eve' }), false],
    [{ kind: 'provider', id: 'openai' }, key, true],
    [{ kind: 'provider', id: 'openai' }, {}, true],
    [{ kind: 'provider', id: 'groq' }, {}, false],
  ] as const)('of %j and a caller %j: %p', (subject, caller, isCounted) => {
    const plan = budgetPlan(policy(limit(subject)), now)
    expect(plan.counting(caller, place, now)).toHaveLength(isCounted ? 1 : 0)
  })

  test.each([
    [['gpt-5*'], 1],
    [['MINI'], 1],
    [['gpt-5'], 0],
    [['claude*', 'mini'], 1],
  ])('of models %j: %d', (models, count) => {
    const plan = budgetPlan(policy(limit({ kind: 'everyone' }, 'day', models)), now)
    expect(plan.counting({}, place, now)).toHaveLength(count)
  })

  test.each([
    ['of callers alone', []],
    ['also of providers', [limit({ kind: 'provider', id: 'groq' })]],
  ])('are of the window of the moment, also when the clock is set back: %s', (_, others) => {
    const plan = budgetPlan(policy(limit({ kind: 'each key' }), limit({ kind: 'everyone' }, 'total'), ...others), now)
    const starts = (at: number) => plan.counting(key, place, at).map(({ window }) => window.start)
    const today = Math.floor(now / dayMs) * dayMs
    expect(starts(now)).toEqual([today, 0])
    expect(starts(today + dayMs)).toEqual([today + dayMs, 0])
    expect(starts(today + dayMs - 1)).toEqual([today, 0])
    expect(plan.counting({ key: { line: 5 } }, place, now)[0]?.key).not.toBe(plan.counting(key, place, now)[0]?.key)
  })

  test('are those of the team that a key of access.json has now, also after requests of another one', () => {
    const plan = budgetPlan(policy(limit({ kind: 'team', name: 'search' })), now)
    const of = (team?: string): Caller => ({ key: { line: -5, ...(team === undefined ? {} : { team }) } })
    const counts = [of('ads'), of('search'), of(), of('search')].map(
      (caller) => plan.counting(caller, place, now).length,
    )
    expect(counts).toEqual([0, 1, 0, 1])
  })

  test('are one for each person and each window, and the same one within it', () => {
    const plan = budgetPlan(policy(limit({ kind: 'each person' })), now)
    const idOf = (caller: Caller, time: number) => plan.counting(caller, place, time)[0]?.key
    expect(idOf(ann, now)).toBe(idOf(ann, now + 1_000) ?? '')
    expect(new Set([idOf(ann, now), idOf(callerOf({ user: 'bob' }), now), idOf(ann, now + dayMs)]).size).toBe(3)
  })

  test('go on with another amount, and begin anew with another period or other models', () => {
    const before = budgetPlan(policy(limit({ kind: 'everyone' })), now)
    const since = (...limits: readonly AccessLimit[]) =>
      budgetPlan(policy(...limits), now + 5, before)
        .counting({}, place, now + 5)
        .map(({ activeSince }) => activeSince)
    const raised = { ...limit({ kind: 'everyone' }), usd: { nanoUsd: 2e9, per: 'day', isHard: false } } as const
    expect(since(raised)).toEqual([now])
    expect(since(limit({ kind: 'everyone' }, 'week'))).toEqual([now + 5])
    expect(since(limit({ kind: 'everyone' }, 'day', ['mini']))).toEqual([now + 5])
  })

  test('are the own ones of a caller, or shared with others', () => {
    const kinds: readonly LimitSubject[] = [
      { kind: 'everyone' },
      { kind: 'each person' },
      { kind: 'person', name: 'ann' },
      { kind: 'team', name: 'search' },
      { kind: 'provider', id: 'openai' },
    ]
    const plan = budgetPlan(policy(...kinds.map((kind) => limit(kind))), now)
    expect(plan.counting(ann, place, now).map(isOwnBudget)).toEqual([false, true, true, false, false])
    // A provider's budget names no caller.
    expect(plan.naming(ann, now)).toHaveLength(4)
  })
})
