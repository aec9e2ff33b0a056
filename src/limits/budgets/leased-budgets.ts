import type { BudgetAuthority, BudgetDecision, BudgetUse } from './budget-authority.ts'
import type { LeaseReport } from './budget-book.ts'
import type { AskedBudget } from './opened-budgets.ts'

/** Reports by the ids of budgets. */
export type LeaseReports = ReadonlyMap<string, LeaseReport>

/** A question of a process that holds leases. */
export interface LeasedQuestion {
  /** Those that the leases of the process do not cover. */
  readonly budgets: readonly AskedBudget[]
  readonly estimate: number
  /** As in {@link BudgetAuthority.admit}. */
  readonly alone?: number | undefined
  /** Taken before the decision. */
  readonly reports: LeaseReports
}

/** A decision, with leases for further attempts. */
export interface LeasedDecision {
  readonly decision: BudgetDecision
  /** Amounts in the order of the budgets; 0: none. */
  readonly leases: readonly number[]
}

/** The process with the book, as one of its lessees sees it. */
export interface BudgetLessor {
  admit(question: LeasedQuestion): Promise<LeasedDecision>
  report(reports: LeaseReports): void
  raise(hold: number, estimate: number): void
  settle(hold: number, cost: number): void
  uses(budgets: readonly AskedBudget[]): Promise<readonly BudgetUse[]>
}

/** The budgets of a process that decides alone what its leases cover, and asks for the rest. */
export interface LeasedBudgets extends BudgetAuthority {
  /** Ends leases that are called back. @returns what is unused */
  callBack(ids: readonly string[]): LeaseReports
  /** Sends all reports that are due. */
  flush(): void
}

export interface LeasedBudgetsOptions {
  readonly lessor: BudgetLessor
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number
  /** Time between reports about leases in use, in milliseconds. Default 250. */
  readonly reportMs?: number
  /** After this time, the rest of a lease is given back. Default 1 s. */
  readonly leaseMs?: number
  /** Time for an answer, after which the attempt is refused. Default 2 s. */
  readonly answerMs?: number
}

/** This process's part of a budget. */
class Lease {
  readonly id: string
  /** What the lease was granted by. `undefined`: there is none, and all changes are reported at once. */
  granted: AskedBudget | undefined
  grantedAt = 0
  /** What may be held without a question. Below 0: attempts hold, or cost, more than was leased. */
  unused = 0
  /** What attempts under way hold. */
  open = 0
  /** Attempts under way, also those that hold 0: while there are any, no other lease of this budget is made. */
  attempts = 0
  /** Since the last report. */
  spent = 0
  /** The last reported {@link open}. */
  reported = 0

  constructor(id: string) {
    this.id = id
  }

  covers(budget: AskedBudget, estimate: number): boolean {
    const { granted } = this
    return granted !== undefined && estimate <= this.unused && (granted === budget || isSame(granted, budget))
  }
}

/** Whether a budget is as it was: a changed limit counts at once. */
function isSame(one: AskedBudget, other: AskedBudget): boolean {
  return one.nanoUsd === other.nanoUsd && one.activeSince === other.activeSince
}

interface LeasedHold {
  /** Those that cover it. */
  readonly leases: readonly Lease[]
  amount: number
  /** The hold of the other budgets at the lessor; `undefined`: there are none. */
  readonly remote: number | undefined
}

const none: LeaseReports = new Map()

/** Budgets without leases. */
export function leasedBudgets({
  lessor,
  clock,
  reportMs = 250,
  leaseMs = 1_000,
  answerMs = 2_000,
}: LeasedBudgetsOptions): LeasedBudgets {
  const leases = new Map<string, Lease>()
  const holds = new Map<number, LeasedHold>()
  let lastHold = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Leases that are reported when the current turn of the event loop has ended. */
  const due = new Set<Lease>()

  /** Notes that a lease has changed. */
  function changed(lease: Lease): void {
    if (lease.granted === undefined || lease.unused < 0) {
      due.add(lease)
      if (due.size === 1) queueMicrotask(reportDue)
    } else reportLater()
  }

  function reportLater(): void {
    if (timer !== undefined) return
    timer = setTimeout(reportAll, reportMs)
    timer.unref()
  }

  function reportDue(): void {
    const reports = reportsOf(due)
    due.clear()
    if (reports.size > 0) lessor.report(reports)
  }

  /** Reports all changes, and gives back old leases. The timer runs while there are any. */
  function reportAll(): void {
    clearTimeout(timer)
    timer = undefined
    const now = clock()
    for (const lease of leases.values()) if (now - lease.grantedAt >= leaseMs) lease.granted = undefined
    const reports = reportsOf(leases.values())
    if (reports.size > 0) lessor.report(reports)
    if (leases.size > 0) reportLater()
  }

  function reportsOf(all: Iterable<Lease>): LeaseReports {
    let reports: Map<string, LeaseReport> | undefined
    for (const lease of all) {
      const report = reportOf(lease)
      if (report !== undefined) (reports ??= new Map()).set(lease.id, report)
    }
    return reports ?? none
  }

  /** What has changed since the last report. What is not leased any more, or owed, is settled with it. */
  function reportOf(lease: Lease): LeaseReport | undefined {
    const { spent, open } = lease
    const returned = lease.granted === undefined || lease.unused < 0 ? lease.unused : 0
    lease.unused -= returned
    const isChanged = spent !== 0 || returned !== 0 || open !== lease.reported
    lease.spent = 0
    lease.reported = open
    if (lease.granted === undefined && lease.attempts === 0) leases.delete(lease.id)
    return isChanged ? { spent, open, returned } : undefined
  }

  function admit(
    budgets: readonly AskedBudget[],
    estimate: number,
    alone?: number,
  ): BudgetDecision | Promise<BudgetDecision> {
    const covering: Lease[] = []
    for (const budget of budgets) {
      const lease = leases.get(budget.id)
      if (lease?.covers(budget, estimate) === true) covering.push(lease)
    }
    for (const lease of covering) {
      lease.attempts += 1
      take(lease, estimate)
    }
    return covering.length === budgets.length
      ? held({ leases: covering, amount: estimate, remote: undefined }, estimate)
      : ask(budgets, covering, { estimate, alone })
  }

  function take(lease: Lease, amount: number): void {
    lease.unused -= amount
    lease.open += amount
    changed(lease)
  }

  function held(hold: LeasedHold, amount: number, dearest = 0): BudgetDecision {
    lastHold += 1
    holds.set(lastHold, hold)
    return { kind: 'held', hold: lastHold, amount, dearest }
  }

  async function ask(
    budgets: readonly AskedBudget[],
    covering: readonly Lease[],
    { estimate, alone }: Pick<LeasedQuestion, 'estimate' | 'alone'>,
  ): Promise<BudgetDecision> {
    const uncovered = budgets.filter(({ id }) => covering.every((lease) => lease.id !== id))
    const tooSmall = uncovered.flatMap(({ id }) => leases.get(id) ?? [])
    for (const lease of tooSmall) lease.granted = undefined
    const reports = reportsOf(tooSmall)
    let answer: LeasedDecision | undefined
    try {
      answer = await decided({ budgets: uncovered.map(plainBudget), estimate, alone, reports })
    } finally {
      if (answer?.decision.kind !== 'held') for (const lease of covering) end(lease, estimate, 0)
    }
    const { decision } = answer
    if (decision.kind === 'refused')
      return { ...decision, by: budgets.findIndex(({ id }) => id === uncovered[decision.by]?.id) }
    for (const [index, budget] of uncovered.entries()) grant(budget, answer.leases[index] ?? 0)
    return held({ leases: covering, amount: estimate, remote: decision.hold }, decision.amount, decision.dearest)
  }

  function grant(budget: AskedBudget, amount: number): void {
    if (amount === 0) return
    const lease = leases.get(budget.id) ?? new Lease(budget.id)
    leases.set(budget.id, lease)
    lease.granted = budget
    lease.grantedAt = clock()
    lease.unused += amount
    changed(lease)
  }

  /** The decision of the lessor. One that comes too late is given back. */
  async function decided(question: LeasedQuestion): Promise<LeasedDecision> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(new Error(`no answer about budgets within ${answerMs} ms`))
    }, answerMs)
    const answering = lessor.admit(question).then((answer) => {
      if (isLate) giveBack(question, answer)
      return answer
    })
    try {
      return await Promise.race([answering, late])
    } finally {
      clearTimeout(timer)
    }
  }

  function giveBack({ budgets }: LeasedQuestion, { decision, leases: granted }: LeasedDecision): void {
    if (decision.kind === 'held') lessor.settle(decision.hold, 0)
    for (const [index, budget] of budgets.entries()) grant(budget, granted[index] ?? 0)
  }

  function end(lease: Lease, amount: number, cost: number): void {
    lease.attempts -= 1
    lease.open -= amount
    lease.unused += amount - cost
    lease.spent += cost
    changed(lease)
  }

  return {
    admit,
    raise(id, estimate) {
      const hold = holds.get(id)
      if (hold === undefined) return
      if (hold.remote !== undefined) lessor.raise(hold.remote, estimate)
      if (estimate <= hold.amount) return
      for (const lease of hold.leases) take(lease, estimate - hold.amount)
      hold.amount = estimate
    },
    settle(id, cost) {
      const hold = holds.get(id)
      if (hold === undefined) return
      holds.delete(id)
      if (hold.remote !== undefined) lessor.settle(hold.remote, cost)
      for (const lease of hold.leases) end(lease, hold.amount, cost)
    },
    uses: (budgets) => {
      reportAll()
      return lessor.uses(budgets.map(plainBudget))
    },
    callBack(ids) {
      const found = ids.flatMap((id) => leases.get(id) ?? [])
      for (const lease of found) lease.granted = undefined
      return reportsOf(found)
    },
    flush: reportAll,
  }
}

/** Without the members that only this process can use. */
function plainBudget({ id, nanoUsd, isOpenWhenAway, window, activeSince, scope }: AskedBudget): AskedBudget {
  return { id, nanoUsd, isOpenWhenAway, window, activeSince, scope }
}
