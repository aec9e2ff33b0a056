import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { takeAll } from '../take-all.ts'
import { BudgetAccount, BudgetAccounts, type MoneyClaim } from './budget-account.ts'
import { LocalBudgets } from './budget-authority.ts'
import { budgetOf, startedAt } from './testing-budgets.ts'

function account(most: number, spent = 0): BudgetAccount {
  return new BudgetAccount(budgetOf(startedAt, { most }), spent)
}

function claimOf(counter: BudgetAccount, amount: number, alone = amount): MoneyClaim {
  return { counter, amount, alone, isShort: false, dearest: 0 }
}

/** @throws when an account refuses */
function held(counters: readonly BudgetAccount[], amount: number, alone = amount): readonly MoneyClaim[] {
  const claims = counters.map((counter) => claimOf(counter, amount, alone))
  if (takeAll(claims, 0) !== undefined) throw new Error('refused')
  return claims
}

describe('the account of a budget', () => {
  test('holds the estimate, and books the real cost', () => {
    const team = account(100)
    const [claim] = held([team], 60)
    expect(team).toMatchObject({ spent: 0, held: 60 })
    if (claim !== undefined) team.settle(claim, 25)
    expect(team).toMatchObject({ spent: 25, held: 0, dearest: 25 })
  })

  test('holds what is left for one attempt, and refuses a second one until that has ended', () => {
    const team = account(100)
    const [first] = held([team], 90)
    const [short] = held([team], 40)
    expect(short).toMatchObject({ amount: 10, isShort: true })
    if (first !== undefined) team.settle(first, 50)
    expect(takeAll([claimOf(team, 60)], 0)).toEqual({ counter: team, waitMs: Infinity, isBusy: true })
    expect(held([team], 30)).toMatchObject([{ amount: 30, isShort: false }])
    if (short !== undefined) team.settle(short, 5)
    expect(held([team], 60)).toMatchObject([{ amount: 15 }])
  })

  test('holds what an attempt is likely to cost where the most does not fit', () => {
    const team = account(100)
    expect(held([team], 400, 20)).toMatchObject([{ amount: 20, isShort: true }])
  })

  test('takes from none where one of several refuses, and all of the estimate beside a short hold', () => {
    const [team, own] = [account(100), account(10)]
    expect(held([team, own], 30)).toMatchObject([{ amount: 30 }, { amount: 10 }])
    expect(takeAll([claimOf(team, 5), claimOf(own, 5)], 0)).toMatchObject({ counter: own, isBusy: true })
    expect(team.held).toBe(30)
  })

  test('admits what costs nothing, without anything left', () => {
    const none = account(0)
    expect(takeAll([claimOf(none, 1)], 0)).toMatchObject({ waitMs: Infinity, isBusy: false })
    expect(held([none], 0)).toMatchObject([{ amount: 0, isShort: false }])
  })

  test('raises a hold beyond what is left', () => {
    const team = account(100)
    const [claim] = held([team], 80)
    if (claim !== undefined) team.raise(claim, 40)
    expect([team.held, team.room, team.remaining()]).toEqual([120, -20, 0])
    if (claim !== undefined) team.settle(claim, 110)
    expect(team).toMatchObject({ spent: 110, held: 0 })
  })
})

describe('the accounts of a process', () => {
  test('begin with what was spent before, and a lower limit counts at once', () => {
    const accounts = new BudgetAccounts()
    const budget = budgetOf(startedAt)
    accounts.open(budget, 70)
    accounts.open(budget, 0)
    expect(held([accounts.find(budget)], 50)).toMatchObject([{ amount: 30 }])
    expect(takeAll([claimOf(accounts.find({ ...budget, most: 60 }), 1)], 0)).toBeDefined()
    expect(() => accounts.find(budgetOf(startedAt + 1))).toThrow('is not open')
  })

  test('are forgotten when their window has ended, unless they have holds', () => {
    const accounts = new BudgetAccounts()
    for (const key of ['old', 'open', 'new']) accounts.open(budgetOf(startedAt, { key }), 0)
    const open = accounts.known('open')
    if (open !== undefined) open.open += 1
    accounts.sweep((key) => key !== 'new')
    expect(['old', 'open', 'new'].map((key) => accounts.has(key))).toEqual([false, true, true])
    if (open !== undefined) open.open -= 1
    accounts.sweep((key) => key !== 'new')
    expect(accounts.size).toBe(1)
  })
})

interface Step {
  readonly act: 'admit' | 'settle' | 'cancel' | 'raise'
  readonly budgets: readonly number[]
  readonly most: number
  /** The likely cost, of the most. */
  readonly aloneShare: number
  readonly pick: number
  /** The cost, of the most. */
  readonly share: number
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom('admit', 'admit', 'admit', 'settle', 'settle', 'cancel', 'raise'),
  budgets: fc.subarray([0, 1, 2], { minLength: 1 }),
  most: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(0), fc.integer({ min: 100, max: 400 })),
  aloneShare: fc.constantFrom(1, 1, 0.5, 0.02),
  pick: fc.nat(1_000),
  share: fc.constantFrom(0, 0.01, 0.5, 1, 1, 1),
})

interface Open {
  readonly most: number
  readonly claims: readonly MoneyClaim[]
}

/** Runs steps on accounts, and keeps its own sums. */
class Run {
  readonly accounts: readonly BudgetAccount[]
  readonly spent = [0, 0, 0]
  dearest = 0
  #open: Open[] = []

  constructor(limits: readonly number[]) {
    this.accounts = limits.map((most) => account(most))
  }

  take({ act, budgets, most, aloneShare, pick, share }: Step): void {
    const chosen = this.#open[pick % Math.max(1, this.#open.length)]
    if (act === 'admit') this.#admit(budgets, most, Math.ceil(most * aloneShare))
    else if (chosen === undefined) return
    else if (act === 'raise') for (const claim of chosen.claims) claim.counter.raise(claim, Math.round(most * share))
    else this.#end(chosen, act === 'cancel' ? 0 : Math.round(chosen.most * share))
  }

  #admit(budgets: readonly number[], most: number, alone: number): void {
    const claims = budgets.flatMap((index) => this.accounts[index] ?? []).map((each) => claimOf(each, most, alone))
    if (takeAll(claims, 0) === undefined) this.#open.push({ most, claims })
    else expect(most).toBeGreaterThan(0)
  }

  #end(ended: Open, cost: number): void {
    this.#open.splice(this.#open.indexOf(ended), 1)
    this.dearest = Math.max(this.dearest, cost)
    for (const claim of ended.claims) {
      claim.counter.settle(claim, cost)
      const index = this.accounts.findIndex((each) => each === claim.counter)
      this.spent[index] = (this.spent[index] ?? 0) + cost
    }
  }

  check(): void {
    for (const [index, own] of this.accounts.entries()) {
      const claims = this.#open.flatMap(({ claims }) => claims.filter(({ counter }) => counter === own))
      expect(own.spent).toBe(this.spent[index] ?? -1)
      expect(own.held).toBe(claims.reduce((sum, { amount }) => sum + amount, 0))
      expect(claims.filter(({ isShort }) => isShort).length).toBe(own.isBusy ? 1 : 0)
      expect(own.spent).toBeLessThanOrEqual(own.spec.most + this.dearest)
    }
  }

  endAll(): void {
    for (const each of [...this.#open]) this.#end(each, each.most)
  }
}

describe('complaint: budgets overshot by concurrency', () => {
  test('are exceeded by one request at most in any order of events, and get back what was not used', () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.nat(500), fc.nat(500), fc.constantFrom(0, 50, 5_000)),
        fc.array(step, { maxLength: 150, size: 'max' }),
        (limits, steps) => {
          const run = new Run(limits)
          for (const each of steps) {
            run.take(each)
            run.check()
          }
          run.endAll()
          run.check()
          for (const { held: left, isBusy } of run.accounts) expect([left, isBusy]).toEqual([0, false])
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('complaint: reservations that never end', () => {
  test('do not exist: after the last settlement nothing is held, and no hold is in memory', () => {
    const budgets = new LocalBudgets({ spending: { sumSince: async () => 0 }, now: () => startedAt })
    const budget = budgetOf(startedAt, { most: Number.MAX_SAFE_INTEGER })
    for (let round = 0; round < 10_000; round++) {
      const answer = budgets.admit([budget], 7)
      if (!(answer instanceof Promise) && answer.kind === 'held') budgets.settle(answer.hold, round % 8)
    }
    expect(budgets.size).toBe(0)
    expect(budgets.accounts.find(budget)).toMatchObject({ held: 0, spent: 35_000, open: 0 })
  })
})
