import { budgetBook, type BudgetBook } from './budget-book.ts'
import { openedBudgets, type AskedBudget, type Spending } from './opened-budgets.ts'

/** The state of a budget, in nano-USD. */
export interface BudgetUse {
  readonly used: number
  readonly held: number
}

/** Result of a question to the authority: a hold, or the place of the budget that refused. */
export type BudgetDecision =
  | { readonly kind: 'held'; readonly hold: number; readonly amount: number }
  | { readonly kind: 'refused'; readonly by: number }

/** Decides on holds. One process has the book; others ask it. */
export interface BudgetAuthority {
  /** A promise while sums are read, or when another process decides. */
  admit(budgets: readonly AskedBudget[], estimate: number): BudgetDecision | Promise<BudgetDecision>
  raise(hold: number, estimate: number): void
  settle(hold: number, cost: number): void
  uses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]>
}

/** The authority in the process that has the book. */
export interface LocalBudgetAuthority extends BudgetAuthority {
  /** As `admit`, for another process. */
  admitFor(owner: object, budgets: readonly AskedBudget[], estimate: number): BudgetDecision | Promise<BudgetDecision>
  /** Books the holds of a process that has ended, at their estimates. */
  abandon(owner: object): void
  readonly book: Pick<BudgetBook, 'holds' | 'budgets' | 'state'>
}

/** Options of {@link localBudgetAuthority}. */
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
  /** Processes that have ended. */
  const gone = new WeakSet<object>()

  function decide(owner: object, budgets: readonly AskedBudget[], estimate: number): BudgetDecision {
    const limits = budgets.map(({ id, nanoUsd }) => ({ id, limit: nanoUsd }))
    if (gone.has(owner)) return { kind: 'refused', by: 0 }
    const admission = book.admit(limits, estimate, owner)
    return admission.kind === 'held'
      ? { kind: 'held', hold: admission.hold.id, amount: admission.hold.amount }
      : { kind: 'refused', by: limits.findIndex(({ id }) => id === admission.budget) }
  }

  function admitFor(
    owner: object,
    budgets: readonly AskedBudget[],
    estimate: number,
  ): BudgetDecision | Promise<BudgetDecision> {
    const pending = opening(budgets)
    return pending === undefined
      ? decide(owner, budgets, estimate)
      : pending.then(() => admitFor(owner, budgets, estimate))
  }

  return {
    admitFor,
    admit: (budgets, estimate) => admitFor(ownProcess, budgets, estimate),
    raise: book.raise,
    settle: book.settle,
    abandon(owner) {
      gone.add(owner)
      book.abandon(owner)
    },
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
