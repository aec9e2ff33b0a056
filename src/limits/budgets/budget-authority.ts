import { budgetBook, type BudgetBook } from './budget-book.ts'
import { openedBudgets, type AskedBudget, type Spending } from './opened-budgets.ts'

/** The state of a budget, in nano-USD. */
export interface BudgetUse {
  readonly used: number
  readonly held: number
}

/**
 * Result of a question to the authority: a hold, or the place of the budget that refused. `dearest`: the highest cost
 * there so far, as far as the authority knows. `isBusy`: an attempt that does not fit is under way, and may leave
 * something.
 */
export type BudgetDecision =
  | { readonly kind: 'held'; readonly hold: number; readonly amount: number; readonly dearest: number }
  | { readonly kind: 'refused'; readonly by: number; readonly isBusy: boolean }

/** Decides on holds: by a book of this process, or by leases of another one. */
export interface BudgetAuthority {
  /**
   * A promise while sums are read, or when another process decides.
   *
   * @param most the attempt may cost: held where it fits
   * @param alone held elsewhere, by one attempt at a time: its likely cost. Default: `most`
   */
  admit(budgets: readonly AskedBudget[], most: number, alone?: number): BudgetDecision | Promise<BudgetDecision>
  raise(hold: number, estimate: number): void
  settle(hold: number, cost: number): void
  uses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]>
}

/** The authority of the only process. */
export interface LocalBudgetAuthority extends BudgetAuthority {
  readonly book: Pick<BudgetBook, 'holds' | 'budgets' | 'state'>
}

export interface LocalBudgetAuthorityOptions {
  readonly spending: Spending
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Makes an authority with an empty book. */
export function localBudgetAuthority({ spending, now }: LocalBudgetAuthorityOptions): LocalBudgetAuthority {
  const book = budgetBook()
  const opening = openedBudgets({ accounts: book, spending, now })
  const ownProcess = {}

  function admit(
    budgets: readonly AskedBudget[],
    most: number,
    alone?: number,
  ): BudgetDecision | Promise<BudgetDecision> {
    const pending = opening(budgets)
    return pending === undefined
      ? decided(book, budgets, ownProcess, most, alone)
      : pending.then(() => admit(budgets, most, alone))
  }

  return {
    admit,
    raise: book.raise,
    settle: book.settle,
    async uses(budgets) {
      await opening(budgets)
      return budgets.map(({ id }) => {
        const { spent = 0, held = 0 } = book.state(id) ?? {}
        return { used: spent, held }
      })
    },
    book,
  }
}

/** The decision of a book. */
export function decided(
  book: Pick<BudgetBook, 'admit'>,
  budgets: readonly AskedBudget[],
  owner: object,
  most: number,
  alone?: number,
): BudgetDecision {
  const admission = book.admit(budgets, most, owner, alone)
  return admission.kind === 'held'
    ? { kind: 'held', hold: admission.hold.id, amount: admission.hold.amount, dearest: admission.dearest }
    : { kind: 'refused', by: budgets.findIndex(({ id }) => id === admission.budget), isBusy: admission.isBusy }
}
