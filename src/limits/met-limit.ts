import { subjectText, type MoneyPeriod, type RatePeriod } from './access-policy.ts'
import { isOwnBudget, type NamedBudget } from './budgets/named-budgets.ts'
import type { CounterKind, LimitCounter } from './counter.ts'
import { periodOf } from './named-limits.ts'

/** A limit that a request met, for the record of the request. It has no name of a person. */
export interface MetLimit {
  /** `waited`: for a slot. `passed_over`: a provider was, by a budget. */
  readonly met: 'refused' | 'waited' | 'passed_over'
  /** As in access.json, but `person` for a limit of one person. */
  readonly for: string
  readonly kind: CounterKind | 'usd'
  /** Nano-USD of `usd`. Absent: the budget is shared with others. */
  readonly limit?: number
  /** Absent of `at_once`. */
  readonly per?: RatePeriod | MoneyPeriod
  /** Absent: all. */
  readonly models?: readonly string[]
}

/** @param models that it counts. Absent: all */
export function metCounter(
  met: MetLimit['met'],
  { spec: { kind, most, perMs, subject } }: Pick<LimitCounter, 'spec'>,
  models?: readonly string[],
): MetLimit {
  const per = periodOf(perMs)
  return {
    met,
    for: nameless(subject),
    kind,
    limit: most,
    ...(per === undefined ? {} : { per }),
    ...(models === undefined ? {} : { models }),
  }
}

/** A budget by which a provider was passed over. */
export function metBudget(budget: NamedBudget): MetLimit {
  const { subject, models } = budget.scope
  return {
    met: 'passed_over',
    for: nameless(subjectText(subject)),
    kind: 'usd',
    ...(isOwnBudget(budget) ? { limit: budget.most } : {}),
    per: budget.limit.usd.per,
    ...(models === undefined ? {} : { models }),
  }
}

/** Records of requests outlive people, whose names are in one table only. */
function nameless(subject: string): string {
  return subject.startsWith('person:') ? 'person' : subject
}
