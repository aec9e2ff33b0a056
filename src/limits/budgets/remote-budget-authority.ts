import type { LocalBudgetAuthority, BudgetAuthority, BudgetUse, BudgetDecision } from './budget-authority.ts'
import type { AskedBudget } from './opened-budgets.ts'

/** Functions of the process that has the book, for others. Arguments and results are structured clones. */
export type BudgetHandlers = {
  admitBudgets(asked: { readonly budgets: readonly AskedBudget[]; readonly estimate: number }): Promise<BudgetDecision>
  raiseHold(raised: { readonly hold: number; readonly estimate: number }): void
  settleHold(settled: { readonly hold: number; readonly cost: number }): void
  budgetUses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]>
}

/** The functions for one process. @param owner of its holds, for `abandon` */
export function budgetHandlers(authority: LocalBudgetAuthority, owner: object): BudgetHandlers {
  return {
    admitBudgets: async ({ budgets, estimate }) => authority.admitFor(owner, budgets, estimate),
    raiseHold: ({ hold, estimate }) => authority.raise(hold, estimate),
    settleHold: ({ hold, cost }) => authority.settle(hold, cost),
    budgetUses: (budgets) => authority.uses(budgets),
  }
}

const answerMsDefault = 2_000

/**
 * A authority that asks the process with the book. A hold that comes too late is released.
 *
 * @param answerMs time for an answer, after which the attempt is refused
 */
export function remoteBudgetAuthority(connection: BudgetHandlers, answerMs = answerMsDefault): BudgetAuthority {
  return {
    async admit(budgets, estimate) {
      const { promise: late, reject } = Promise.withResolvers<never>()
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        reject(new Error(`no answer about budgets within ${answerMs} ms`))
      }, answerMs)
      const answering = connection.admitBudgets({ budgets: budgets.map(plainBudget), estimate }).then((answer) => {
        clearTimeout(timer)
        if (isLate && answer.kind === 'held') connection.settleHold({ hold: answer.hold, cost: 0 })
        return answer
      })
      try {
        return await Promise.race([answering, late])
      } finally {
        clearTimeout(timer)
      }
    },
    raise: (hold, estimate) => connection.raiseHold({ hold, estimate }),
    settle: (hold, cost) => connection.settleHold({ hold, cost }),
    uses: (budgets) => connection.budgetUses(budgets.map(plainBudget)),
  }
}

/** Without the members that only this process can use. */
function plainBudget({ id, nanoUsd, isOpenWhenAway, window, activeSince, scope }: AskedBudget): AskedBudget {
  return { id, nanoUsd, isOpenWhenAway, window, activeSince, scope }
}
