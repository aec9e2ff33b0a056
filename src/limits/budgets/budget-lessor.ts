import { leaseHolders } from '../lease-holders.ts'
import { decided } from './budget-authority.ts'
import { budgetBook, type BudgetBook, type BudgetToken } from './budget-book.ts'
import type { BudgetLessor, LeasedDecision, LeasedQuestion, LeaseReports } from './leased-budgets.ts'
import { openedBudgets, type AskedBudget, type Spending } from './opened-budgets.ts'

/** A process that holds leases, as the process with the book sees it. */
export interface BudgetHolder {
  /** Ends the leases of these budgets. @returns what is unused */
  callBack(ids: readonly string[]): Promise<LeaseReports>
}

/** The process with the book, for one other process. */
export interface BudgetLessee extends BudgetLessor {
  /** The process has ended. Its holds are booked at their estimates, and what it did not use is free. */
  left(): void
}

/** Decides about the budgets of all processes (docs/decisions/0029-stored-holds-and-leases.md). */
export interface BudgetLessors {
  joined(holder: BudgetHolder): BudgetLessee
  readonly book: Pick<BudgetBook, 'holds' | 'budgets' | 'state'>
}

export interface BudgetLessorsOptions {
  readonly spending: Spending
  /** Number of processes. */
  readonly processes: number
  /** Unix milliseconds. */
  readonly now: () => number
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number
}

/** A lease is at most this part of each process's share of what is left. */
const leaseDivisor = 4

/** Makes an authority with an empty book. */
export function budgetLessors({ spending, processes, now, clock }: BudgetLessorsOptions): BudgetLessors {
  const book = budgetBook()
  const opening = openedBudgets({ accounts: book, spending, now })
  /** Processes that have ended. */
  const gone = new WeakSet<BudgetHolder>()
  const holders = leaseHolders<BudgetToken, BudgetHolder>(async (holder, tokens) => {
    // The end of a process frees its leases.
    const reports = await holder.callBack(tokens.map(({ id }) => id)).catch(() => undefined)
    if (reports !== undefined) take(reports, holder)
    else if (!gone.has(holder)) return
    // From now on the process returns at once what becomes free, or it has ended.
    for (const token of tokens) holders.delete(token, holder)
  })

  function take(reports: LeaseReports, holder: BudgetHolder): void {
    if (gone.has(holder)) return
    for (const [id, report] of reports) book.report(id, holder, report)
  }

  /** Decides, if need be after leases were called back. The last look and the admission are one step. */
  async function decide(question: LeasedQuestion, holder: BudgetHolder): Promise<LeasedDecision> {
    const { budgets, estimate } = question
    const called = new Set<BudgetToken>()
    for (;;) {
      if (gone.has(holder)) return { decision: { kind: 'refused', by: 0, isBusy: false }, leases: [] }
      const tight = tokensOf(budgets.filter((each) => estimate > 0 && estimate > book.roomOf(each))).filter(
        (token) => !called.has(token) && holders.has(token),
      )
      if (tight.length === 0) return admit(question, holder)
      for (const token of tight) called.add(token)
      holders.noteShort(tight, clock())
      await holders.callBack(tight)
    }
  }

  function admit({ budgets, estimate, alone }: LeasedQuestion, holder: BudgetHolder): LeasedDecision {
    const decision = decided(book, budgets, holder, estimate, alone)
    const leases = decision.kind === 'held' ? budgets.map((budget) => lease(budget, estimate, holder)) : []
    return { decision, leases }
  }

  /** @returns the amount; 0 where a lease would not cover another attempt like this one */
  function lease(budget: AskedBudget, estimate: number, holder: BudgetHolder): number {
    const token = book.tokenOf(budget.id)
    if (token === undefined || holders.isShort(token, clock())) return 0
    const amount = Math.floor(book.roomOf(budget) / (leaseDivisor * processes))
    if (amount < Math.max(1, estimate)) return 0
    book.lease(budget.id, amount, holder)
    holders.add(token, holder)
    return amount
  }

  function tokensOf(budgets: readonly AskedBudget[]): readonly BudgetToken[] {
    return budgets.flatMap(({ id }) => book.tokenOf(id) ?? [])
  }

  return {
    joined: (holder) => ({
      async admit(question) {
        take(question.reports, holder)
        await opening(question.budgets)
        return await decide(question, holder)
      },
      report: (reports) => take(reports, holder),
      raise: book.raise,
      settle: book.settle,
      async uses(budgets) {
        await opening(budgets)
        await holders.callBack(tokensOf(budgets).filter((token) => holders.has(token)))
        return budgets.map(({ id }) => {
          const { spent = 0, held = 0 } = book.state(id) ?? {}
          return { used: spent, held }
        })
      },
      left() {
        gone.add(holder)
        book.abandon(holder)
      },
    }),
    book,
  }
}
