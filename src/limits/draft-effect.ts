import type { Caller } from '../people/person.ts'
import type { AccessPolicy } from './access-policy.ts'
import { budgetPlan, type BudgetScope } from './budgets/named-budgets.ts'
import { countedBy } from './limit-overview.ts'
import { callerId, countedFor } from './named-limits.ts'

/** What one limit of a policy would do now. */
export interface DraftEffect {
  /** Callers of late that it names. */
  readonly counted: number
  /** Those that have spent its amount, the one that spent most first. Absent: not of money, or no use is stored. */
  readonly above?: readonly Overspent[]
  /** Places of the other limits that count for the same callers. */
  readonly besides: readonly string[]
}

/** Callers that are counted together, and have spent the amount of a limit. */
export interface Overspent {
  /** As in `LimitUse`. */
  readonly name: string
  /** Nano-USD. */
  readonly used: number
}

export interface DraftEffectOptions {
  readonly policy: AccessPolicy
  /** Index of the limit. */
  readonly place: number
  /** The one that asked last comes first. */
  readonly callers: readonly Caller[]
  /** As `Spending.sumSince`; `undefined`: no use is stored. */
  readonly sumSince: ((scope: BudgetScope, since: number) => Promise<number>) | undefined
  /** Unix milliseconds. */
  readonly now: number
}

/** Each is a question to the database. */
const summedMax = 50

/** Reads what one limit would do. It changes no count. `undefined`: there is no limit at that place. */
export async function draftEffect(options: DraftEffectOptions): Promise<DraftEffect | undefined> {
  const { policy, place, callers } = options
  const entry = policy.limits[place]
  if (entry === undefined) return undefined
  const isOfProvider = entry.subject.kind === 'provider'
  const named = callers.filter((caller) => isOfProvider || countedFor(entry, caller, policy) !== undefined)
  const above = await overspent(options)
  return {
    counted: new Set(
      named.map((caller) => countedFor(entry, caller, policy) || (caller.person?.id ?? callerId(caller))),
    ).size,
    ...(above === undefined ? {} : { above }),
    besides: policy.limits
      .filter((other, index) => {
        if (index === place || isOfProvider) return false
        if (other.subject.kind === 'everyone') return true
        return named.some((caller) => countedFor(other, caller, policy) !== undefined)
      })
      .map((other) => other.place),
  }
}

async function overspent(options: DraftEffectOptions): Promise<readonly Overspent[] | undefined> {
  const { policy, place, callers, sumSince, now } = options
  const entry = policy.limits[place]
  if (entry?.usd === undefined || sumSince === undefined) return undefined
  const { nanoUsd } = entry.usd
  const plan = budgetPlan(policy, now)
  const groups = countedBy(entry, callers, policy).slice(0, summedMax)
  const sums = await Promise.all(
    groups.map(async ({ counted, name }) => {
      const budget = plan.budgetOf(entry, counted, now)
      return { name, used: budget === undefined ? 0 : await sumSince(budget.scope, budget.window.start) }
    }),
  )
  return sums.filter(({ used }) => used >= nanoUsd).toSorted((one, other) => other.used - one.used)
}
