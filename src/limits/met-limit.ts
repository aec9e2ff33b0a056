import type { MetLimit } from '../observe/request-entry.ts'
import { subjectText } from './access-policy.ts'
import { isOwnBudget, type NamedBudget } from './budgets/named-budgets.ts'
import type { LimitCounter } from './counter.ts'
import { periodOf } from './named-limits.ts'

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
