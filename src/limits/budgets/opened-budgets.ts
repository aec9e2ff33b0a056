import type { Alert } from '../../observe/webhook/webhook.ts'
import type { BudgetScope, NamedBudget } from './named-budgets.ts'

/** Sums of spending, such as those of the ledger. */
export interface Spending {
  /** Spending in a scope since that time, in nano-USD. @param since the start of a local day, or 0 */
  sumSince(scope: BudgetScope, since: number): Promise<number>
}

/** A question for {@link Spending.sumSince}. Plain data: it goes to other processes. */
export interface SpendingQuestion {
  readonly scope: BudgetScope
  readonly since: number
}

/** A budget of an admission. Plain data: it goes to other processes. */
export type AskedBudget = Omit<NamedBudget, 'limit'>

/** What an authority knows of each budget. */
export interface Accounts {
  has(budget: string): boolean
  /** Opens a budget. Of one that is open, at least this was spent. @param spent before, in nano-USD */
  open(budget: AskedBudget, spent: number): void
  /** Forgets budgets that nothing holds. @param isOver whether the window of a budget has ended */
  sweep(isOver: (budget: string) => boolean): void
  readonly size: number
}

/** Takes the alert for a budget of which a share was spent. Must not throw. */
export type OnCrossed = (alert: Alert) => void

/** Where budgets find what was spent before, and say what is spent. */
export interface SpendingSource {
  readonly spending: Spending
  readonly onCrossed?: OnCrossed | undefined
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Opens the accounts of budgets that are not open. @returns a promise while sums are read */
export type OpenBudgets = (budgets: readonly AskedBudget[]) => Promise<unknown> | undefined

/** Budgets of ended windows are forgotten when there are this many more. */
const sweepEvery = 1_000
/** A clock may be set back this far, and finds its budgets in memory. */
const keptMs = 25 * 3_600_000

/**
 * A budget starts with the sum of spending since the start of its window. For a window that began after this process
 * and the limit, the sum is 0 and is not read. For a limit that was removed and added again, the sum is read again, and
 * the larger one counts.
 */
export function openedBudgets(accounts: Accounts, { spending, now }: SpendingSource): OpenBudgets {
  /** Unix milliseconds: the ends of the windows of open budgets, and when their sums were last known to be whole. */
  const opened = new Map<string, { readonly end: number; readonly checkedAt: number }>()
  const loading = new Map<string, Promise<void>>()
  /** All spending of windows that start from here on is in the accounts. */
  let knownFrom = now()
  let sweepAt = sweepEvery

  function open(asked: AskedBudget): Promise<void> | undefined {
    const { key, window, scope, activeSince } = asked
    const found = opened.get(key)
    if (found !== undefined && found.checkedAt >= activeSince) return undefined
    if (window.start >= knownFrom && window.start >= activeSince) return enter(asked, 0)
    const known = loading.get(key)
    if (known !== undefined) return known
    const load = spending
      .sumSince(scope, window.start)
      .then((spent) => enter(asked, spent))
      .finally(() => loading.delete(key))
    loading.set(key, load)
    return load
  }

  function enter(budget: AskedBudget, spent: number): undefined {
    const { key, window, activeSince } = budget
    accounts.open(budget, spent)
    opened.set(key, { end: window.end, checkedAt: Math.max(now(), activeSince) })
    if (accounts.size >= sweepAt) sweep()
  }

  function sweep(): void {
    const before = now() - keptMs
    accounts.sweep((key) => (opened.get(key)?.end ?? 0) < before)
    for (const [key, { end }] of opened) {
      if (accounts.has(key)) continue
      opened.delete(key)
      knownFrom = Math.max(knownFrom, end)
    }
    sweepAt = accounts.size + sweepEvery
  }

  return function opening(budgets) {
    let pending: Promise<void>[] | undefined
    for (const budget of budgets) {
      const load = open(budget)
      if (load !== undefined) (pending ??= []).push(load)
    }
    return pending && Promise.all(pending)
  }
}
