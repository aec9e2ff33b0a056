import type { Account } from '../counter.ts'
import type { Accounts, AskedBudget, OnCrossed } from './opened-budgets.ts'
import { budgetAlert } from './thresholds.ts'

/** An account of money, in whole nano-USD: of this process, or its part of one elsewhere. */
export interface MoneyAccount extends Account<AskedBudget> {
  /** Holds the amount of a claim that fits, or less if it may run alone. */
  hold(claim: MoneyClaim): void
  /** Holds more for a claim, also beyond what is left. */
  raise(claim: MoneyClaim, more: number): void
  /** Ends a hold with the real cost. */
  settle(claim: MoneyClaim, cost: number): void
}

/** Money that one attempt holds in one budget. */
export interface MoneyClaim {
  readonly counter: MoneyAccount
  /** The most that the attempt may cost; after {@link MoneyAccount.hold}, the amount that is held. */
  amount: number
  /** Its likely cost, which it holds where {@link amount} does not fit: one attempt at a time. */
  readonly alone: number
  /** It holds less than it may cost. */
  isShort: boolean
  /** The highest cost of an attempt in the budget so far. */
  dearest: number
}

/** The state of a budget, in nano-USD. */
export interface BudgetUse {
  readonly used: number
  readonly held: number
}

/**
 * A budget in one window. Pure: it knows no clock, and nothing in it waits.
 *
 * What fits is held whole, and 0 always fits. Else one attempt at a time may run alone with a short hold of its likely
 * cost, or of what is left if that is less. So at most one attempt may cost more than is held for it, and the budget is
 * exceeded by one request at most.
 */
export class BudgetAccount implements MoneyAccount {
  spec: AskedBudget
  open = 0
  spent: number
  held = 0
  /** The highest cost of an attempt that has ended. */
  dearest = 0
  /** It has a short hold. */
  isBusy = false
  readonly #onCrossed: OnCrossed | undefined

  constructor(spec: AskedBudget, spent: number, onCrossed?: OnCrossed) {
    this.spec = spec
    this.spent = spent
    this.#onCrossed = onCrossed
  }

  get room(): number {
    return this.spec.most - this.spent - this.held
  }

  fits(amount: number): boolean {
    return amount === 0 || amount <= this.room
  }

  waitMs(amount: number, _now: number, alone = amount): number {
    const mayRunAlone = !this.isBusy && Math.min(this.room, alone) > 0
    return this.fits(amount) || mayRunAlone ? 0 : Number.POSITIVE_INFINITY
  }

  hold(claim: MoneyClaim): void {
    claim.dearest = this.dearest
    claim.isShort = !this.fits(claim.amount)
    if (claim.isShort) {
      claim.amount = Math.min(this.room, claim.alone)
      this.isBusy = true
    }
    this.held += claim.amount
  }

  raise(claim: MoneyClaim, more: number): void {
    claim.amount += more
    this.held += more
  }

  settle({ amount, isShort }: MoneyClaim, cost: number): void {
    this.held -= amount
    this.spend(cost, cost)
    if (isShort) this.isBusy = false
  }

  /** @param dearest the highest cost of an attempt among them */
  spend(cost: number, dearest: number): void {
    const alert = this.#onCrossed && budgetAlert(this.spec, this.spent, this.spent + cost)
    this.spent += cost
    if (alert !== undefined) this.#onCrossed?.(alert)
    this.dearest = Math.max(this.dearest, dearest)
  }

  /** Of leases, also beyond the room. */
  take(amount: number): void {
    this.held += amount
  }

  giveBack(amount: number): void {
    this.held -= amount
  }

  remaining(): number {
    return Math.max(0, this.room)
  }

  resetMs(): number {
    return 0
  }

  mayForget(): boolean {
    return this.open === 0
  }
}

/** The budgets of a process that decides. They are opened with what was spent before. */
export class BudgetAccounts implements Accounts {
  readonly #accounts = new Map<string, BudgetAccount>()
  readonly #onCrossed: OnCrossed | undefined

  constructor(onCrossed?: OnCrossed) {
    this.#onCrossed = onCrossed
  }

  has(key: string): boolean {
    return this.#accounts.has(key)
  }

  open(spec: AskedBudget, spent: number): void {
    const known = this.#accounts.get(spec.key)
    if (known === undefined) this.#accounts.set(spec.key, new BudgetAccount(spec, spent, this.#onCrossed))
    else known.spent = Math.max(known.spent, spent)
  }

  /** @throws when it is not open */
  find(spec: AskedBudget): BudgetAccount {
    const account = this.#accounts.get(spec.key)
    if (account === undefined) throw new Error(`the budget ${spec.key} is not open`)
    // A changed limit counts from now on.
    account.spec = spec
    return account
  }

  known(key: string): BudgetAccount | undefined {
    return this.#accounts.get(key)
  }

  sweep(isOver: (key: string) => boolean): void {
    for (const [key, account] of this.#accounts) if (account.mayForget() && isOver(key)) this.#accounts.delete(key)
  }

  get size(): number {
    return this.#accounts.size
  }
}
