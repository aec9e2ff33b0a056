import { budgetBook, type BudgetBook } from './budget-book.ts'
import type { BudgetScope, NamedBudget } from './named-budgets.ts'

/** Sums of spending, such as those of the ledger. */
export interface Spending {
  /** Spending in a scope since that time, in nano-USD. @param since the start of a local day, or 0 */
  sumSince(scope: BudgetScope, since: number): Promise<number>
}

/** A budget of an admission. Plain data: it goes to other processes. */
export type AskedBudget = Pick<NamedBudget, 'id' | 'nanoUsd' | 'window' | 'scope' | 'activeSince'>

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

/** Budgets of ended windows are forgotten when there are this many more. */
const sweepEvery = 1_000
/** A clock may be set back this far, and finds its budgets in memory. */
const keptMs = 25 * 3_600_000

/**
 * Makes an authority with an empty book. A budget starts with the sum of spending since the start of its window. For a
 * window that began after the authority and the limit, the sum is 0 and is not read. For a limit that was removed and
 * added again, the sum is read again, and the larger one counts.
 */
export function localBudgetAuthority({ spending, now }: LocalBudgetAuthorityOptions): LocalBudgetAuthority {
  const book = budgetBook()
  /** Unix milliseconds: the ends of the windows of open budgets, and when their sums were last known to be whole. */
  const opened = new Map<string, { readonly end: number; readonly checkedAt: number }>()
  const loading = new Map<string, Promise<void>>()
  const ownProcess = {}
  /** Processes that have ended. */
  const gone = new WeakSet<object>()
  /** The book knows all spending of windows that start from here on. */
  let knownFrom = now()
  let sweepAt = sweepEvery

  function open(asked: AskedBudget): Promise<void> | undefined {
    const { id, window, scope, activeSince } = asked
    const { checkedAt = -Infinity } = opened.get(id) ?? {}
    if (checkedAt >= activeSince) return undefined
    if (window.start >= knownFrom && window.start >= activeSince) return enter(asked, 0)
    const known = loading.get(id)
    if (known !== undefined) return known
    const load = spending
      .sumSince(scope, window.start)
      .then((spent) => enter(asked, spent))
      .finally(() => loading.delete(id))
    loading.set(id, load)
    return load
  }

  function enter({ id, window: { end }, activeSince }: AskedBudget, spent: number): undefined {
    book.open(id, spent)
    opened.set(id, { end, checkedAt: Math.max(now(), activeSince) })
    if (book.budgets >= sweepAt) sweep()
  }

  function sweep(): void {
    const before = now() - keptMs
    book.sweep((id) => (opened.get(id)?.end ?? 0) < before)
    for (const [id, { end }] of opened) {
      if (book.has(id)) continue
      opened.delete(id)
      knownFrom = Math.max(knownFrom, end)
    }
    sweepAt = book.budgets + sweepEvery
  }

  function decide(owner: object, budgets: readonly AskedBudget[], estimate: number): BudgetDecision {
    const limits = budgets.map(({ id, nanoUsd }) => ({ id, limit: nanoUsd }))
    if (gone.has(owner)) return { kind: 'refused', by: 0 }
    const admission = book.admit(limits, estimate, owner)
    return admission.kind === 'held'
      ? { kind: 'held', hold: admission.hold.id, amount: admission.hold.amount }
      : { kind: 'refused', by: limits.findIndex(({ id }) => id === admission.budget) }
  }

  function opening(budgets: readonly AskedBudget[]): Promise<unknown> | undefined {
    const pending = budgets.flatMap((budget) => open(budget) ?? [])
    return pending.length === 0 ? undefined : Promise.all(pending)
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
