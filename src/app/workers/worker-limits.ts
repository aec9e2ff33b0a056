import { nextTurn } from '../../base/next-turn.ts'
import { overloaded } from '../../gateway/all-failed.ts'
import type { BudgetAuthority } from '../../limits/budgets/budget-authority.ts'
import type {
  AskedClaim,
  ClaimDecision,
  JoinedProcess,
  LeaseReport,
  LeaseReports,
} from '../../limits/lease-messages.ts'
import type { Leases } from '../../limits/leases.ts'
import type { Limiter } from '../../limits/limiter.ts'
import { withinMs } from '../../service/within.ts'

/** Longest wait for a decision of the primary. */
const claimMs = 2_000

/** The limits and budgets of a worker, which the primary decides about. */
export interface WorkerLimits {
  makeLimiter(): Promise<Limiter>
  makeBudgetAuthority(): Promise<BudgetAuthority>
  /** Returns the unused leases. */
  callBack(keys: readonly string[]): Promise<LeaseReports>
  /** Sends all reports that are due. */
  flush(): void
}

/** @param primary decides for all workers. @param answerMs default 2 s */
export function workerLimits(primary: Omit<JoinedProcess, 'left'>, answerMs = claimMs): WorkerLimits {
  const clock = () => performance.now()
  let leases: Leases | undefined

  /** @throws {WireError} 503 when the primary does not answer in time: no request passes uncounted */
  async function claim(claims: readonly AskedClaim[]): Promise<ClaimDecision> {
    const pending = primary.claim(claims)
    const decision = await withinMs(pending, answerMs).catch(() => undefined)
    if (decision !== undefined) return decision
    pending.then(
      (late) => primary.report(grantedBy(claims, late)),
      // The channel is closed: this process ends.
      () => undefined,
    )
    throw overloaded('The limits of callers cannot be checked now; try again shortly')
  }

  async function ownLeases(): Promise<Leases> {
    const { Leases } = await import('../../limits/leases.ts')
    return (leases ??= new Leases({ authority: { claim, report: primary.report }, clock }))
  }

  return {
    async makeLimiter() {
      const [{ CounterBook }, { Limiter }, own] = await Promise.all([
        import('../../limits/counter-book.ts'),
        import('../../limits/limiter.ts'),
        ownLeases(),
      ])
      return new Limiter({ clock, counters: new CounterBook(undefined, (spec) => own.counter(spec)), leases: own })
    },
    async makeBudgetAuthority() {
      const [{ BudgetHolds }, { plainBudget }, own] = await Promise.all([
        import('../../limits/budgets/budget-authority.ts'),
        import('../../limits/leased-accounts.ts'),
        ownLeases(),
      ])
      return new BudgetHolds({
        find: (budget) => own.budget(budget),
        takeAll: own.takeAll,
        uses(budgets) {
          own.flush()
          return primary.uses(budgets.map(plainBudget))
        },
      })
    },
    async callBack(keys) {
      // Decisions that arrived before this message have been taken note of then.
      await nextTurn()
      return leases?.callBack(keys) ?? new Map()
    },
    flush: () => leases?.flush(),
  }
}

/** What a decision granted that came too late: all of it is given back. */
function grantedBy(claims: readonly AskedClaim[], { refused, counters }: ClaimDecision): LeaseReports {
  if (refused !== undefined) return new Map()
  return new Map(
    claims.map(({ spec, amount }, index): readonly [string, LeaseReport] => {
      const { lease = 0, held } = counters[index] ?? {}
      if (held === undefined) return [spec.key, { returned: amount + lease, mayReturn: true }]
      const money = { spent: 0, opened: -held.amount, dearest: 0, raised: 0, endsShort: held.isShort }
      return [spec.key, { returned: held.amount + lease, mayReturn: true, money }]
    }),
  )
}
