import type { BudgetUse } from './budget-authority.ts'
import type { BudgetLessee } from './budget-lessor.ts'
import type { LeasedDecision, LeasedQuestion, LeaseReports } from './leased-budgets.ts'
import type { AskedBudget } from './opened-budgets.ts'

/** Functions of the process that has the book, for others. Arguments and results are structured clones. */
export type BudgetHandlers = {
  admitBudgets(question: LeasedQuestion): Promise<LeasedDecision>
  reportBudgets(reports: LeaseReports): void
  raiseHold(raised: { readonly hold: number; readonly estimate: number }): void
  settleHold(settled: { readonly hold: number; readonly cost: number }): void
  budgetUses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]>
}

/** The functions for one process. */
export function budgetHandlers(lessee: BudgetLessee): BudgetHandlers {
  return {
    admitBudgets: (question) => lessee.admit(question),
    reportBudgets: (reports) => lessee.report(reports),
    raiseHold: ({ hold, estimate }) => lessee.raise(hold, estimate),
    settleHold: ({ hold, cost }) => lessee.settle(hold, cost),
    budgetUses: (budgets) => lessee.uses(budgets),
  }
}
