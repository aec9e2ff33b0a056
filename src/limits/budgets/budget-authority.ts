import { takeAll, type Refused, type TakeAll } from '../take-all.ts'
import { BudgetAccounts, type BudgetUse, type MoneyAccount, type MoneyClaim } from './budget-account.ts'
import { openedBudgets, type AskedBudget, type OpenBudgets, type SpendingSource } from './opened-budgets.ts'

/**
 * Result of a question to the authority: a hold, or the place of the budget that refused. `dearest`: the highest cost
 * there so far, as far as the authority knows. `isBusy`: an attempt that does not fit is under way, and may leave
 * something.
 */
export type BudgetDecision =
  | { readonly kind: 'held'; readonly hold: number; readonly amount: number; readonly dearest: number }
  | { readonly kind: 'refused'; readonly by: number; readonly isBusy: boolean }

/** Decides on holds: by accounts of this process, by leases of another one, or in Redis. */
export type BudgetAuthority = Pick<BudgetHolds, 'admit' | 'raise' | 'settle' | 'uses'>

/** Where holds are made: the parts that differ between processes that decide, and those that ask. */
export interface BudgetSource {
  find(budget: AskedBudget): MoneyAccount
  readonly takeAll: TakeAll
  /** Opens budgets before they are found. Absent: another process does. */
  readonly opening?: OpenBudgets
  uses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]>
}

/** The holds of this process. A hold takes money of all budgets that count an attempt, or of none. */
export class BudgetHolds {
  readonly #source: BudgetSource
  readonly #holds = new Map<number, readonly MoneyClaim[]>()
  #lastHold = 0

  constructor(source: BudgetSource) {
    this.#source = source
  }

  /** Number of open holds. */
  get size(): number {
    return this.#holds.size
  }

  /**
   * A promise while sums are read, or when another process decides.
   *
   * @param most the attempt may cost: held where it fits
   * @param alone held elsewhere, by one attempt at a time: its likely cost. Default: `most`
   */
  admit(budgets: readonly AskedBudget[], most: number, alone = most): BudgetDecision | Promise<BudgetDecision> {
    const pending = this.#source.opening?.(budgets)
    if (pending !== undefined) return pending.then(() => this.admit(budgets, most, alone))
    const claims = budgets.map((budget): MoneyClaim => {
      return { counter: this.#source.find(budget), amount: most, alone, isShort: false, dearest: 0 }
    })
    for (const { counter } of claims) counter.open += 1
    const refused = this.#source.takeAll(claims, 0)
    if (!(refused instanceof Promise)) return this.#decided(claims, refused)
    return refused.then(
      (by) => this.#decided(claims, by),
      (error: unknown) => {
        close(claims)
        throw error
      },
    )
  }

  #decided(claims: readonly MoneyClaim[], refused: Refused<MoneyClaim> | undefined): BudgetDecision {
    if (refused !== undefined) {
      close(claims)
      const by = claims.findIndex(({ counter }) => counter === refused.counter)
      return { kind: 'refused', by, isBusy: refused.isBusy === true }
    }
    const hold = (this.#lastHold += 1)
    this.#holds.set(hold, claims)
    let amount = Number.POSITIVE_INFINITY
    let dearest = 0
    for (const claim of claims) {
      amount = Math.min(amount, claim.amount)
      dearest = Math.max(dearest, claim.dearest)
    }
    return { kind: 'held', hold, amount, dearest }
  }

  raise(hold: number, estimate: number): void {
    for (const claim of this.#holds.get(hold) ?? []) {
      const more = estimate - claim.amount
      if (more > 0) claim.counter.raise(claim, more)
    }
  }

  settle(hold: number, cost: number): void {
    const claims = this.#holds.get(hold)
    if (claims === undefined) return
    this.#holds.delete(hold)
    for (const claim of claims) claim.counter.settle(claim, cost)
    close(claims)
  }

  uses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]> {
    return this.#source.uses(budgets)
  }
}

function close(claims: readonly MoneyClaim[]): void {
  for (const { counter } of claims) counter.open -= 1
}

/** The holds of the only process, in budgets that are not open yet. */
export class LocalBudgets extends BudgetHolds {
  readonly accounts: BudgetAccounts

  constructor(source: SpendingSource) {
    const accounts = new BudgetAccounts(source.onCrossed)
    const opening = openedBudgets(accounts, source)
    super({
      find: (budget) => accounts.find(budget),
      takeAll,
      opening,
      async uses(budgets) {
        await opening(budgets)
        return budgets.map((budget) => {
          const { spent, held } = accounts.find(budget)
          return { used: spent, held }
        })
      },
    })
    this.accounts = accounts
  }
}
