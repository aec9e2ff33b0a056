import { matchesAny } from '../../base/name-pattern.ts'
import type { Caller } from '../../people/person.ts'
import {
  periodText,
  subjectText,
  type AccessLimit,
  type AccessPolicy,
  type LimitSubject,
  type MoneyAmount,
} from '../access-policy.ts'
import { callerKey, countedFor } from '../named-limits.ts'
import { windowsOf, type Window, type WindowOf } from './window.ts'

/** An attempt, as far as it decides which budgets count it. */
export interface AttemptPlace {
  /** Id of the provider. */
  readonly provider: string
  /** All names of the model: as asked for, as listed, at the provider. Empty where no limit is for some models. */
  readonly models: readonly string[]
}

/** A budget that counts an attempt, in one window. */
export interface NamedBudget {
  readonly kind: 'usd'
  /** The limit in words, such as `everyone, a month`. */
  readonly text: string
  /** Names the limit, the caller it counts, and the window. */
  readonly key: string
  /** The limit in nano-USD. */
  readonly most: number
  /** As in `MoneyAmount`. */
  readonly isOpenWhenAway: boolean
  readonly window: Window
  /** Unix milliseconds from which on all attempts were counted by it. */
  readonly activeSince: number
  /** What its sums are made of. */
  readonly scope: BudgetScope
  readonly limit: MoneyLimit
}

/** Whose spending a budget sums. */
export interface BudgetScope {
  readonly subject: LimitSubject
  /**
   * The caller that `each person` or `each key` stands for: `person:` and the subject as in the ledger, `key:` and a
   * line; else empty.
   */
  readonly caller: string
  /** Members of a team; its keys count, too. */
  readonly members: readonly string[]
  /** Names of models in lower case, or beginnings of names and `*`. Absent: all. */
  readonly models: readonly string[] | undefined
}

/** An entry of access.json with an amount of money. */
export interface MoneyLimit {
  readonly entry: AccessLimit
  readonly usd: MoneyAmount
}

/** The budgets of a policy. */
export interface BudgetPlan {
  readonly timeZone: string
  /** A limit is for some models. */
  readonly hasModels: boolean
  /** Unix milliseconds, by the keys of limits. */
  readonly activeSince: ReadonlyMap<string, number>
  /** Those that count an attempt of this caller now. @param now Unix milliseconds */
  counting(caller: Caller, attempt: AttemptPlace, now: number): readonly NamedBudget[]
  /** Those that name this caller, for any model. */
  naming(caller: Caller, now: number): readonly NamedBudget[]
  /** The budget of one entry for the callers that it counts together; `undefined`: the entry has no money. */
  budgetOf(entry: AccessLimit, counted: string, now: number): NamedBudget | undefined
}

interface PlannedLimit extends MoneyLimit {
  readonly activeSince: number
  readonly key: string
  readonly text: string
  readonly models: readonly string[] | undefined
  readonly members: readonly string[]
  readonly windowOf: WindowOf
}

/**
 * Makes the plan of a policy.
 *
 * @param now Unix milliseconds
 * @param before the plan that it replaces: its limits go on
 * @throws {RangeError} for an unknown time zone
 */
export function budgetPlan(policy: AccessPolicy, now: number, before?: BudgetPlan): BudgetPlan {
  const limits = policy.limits.flatMap((entry) => {
    if (entry.usd === undefined) return []
    const limit = planned(entry, entry.usd, policy)
    return [namedIn({ ...limit, activeSince: before?.activeSince.get(limit.key) ?? now })]
  })

  const hasModels = limits.some(({ limit }) => limit.models !== undefined)
  /** The caller alone decides which budgets count an attempt. */
  const areOfCallers = !hasModels && limits.every(({ limit }) => limit.entry.subject.kind !== 'provider')

  function counting(caller: Caller, { provider, models }: AttemptPlace, now: number): readonly NamedBudget[] {
    const budgets: NamedBudget[] = []
    for (const { limit, named } of limits) {
      const counted = countedAt(limit, caller, provider, policy)
      if (counted === undefined) continue
      if (limit.models === undefined || matchesAny(limit.models, models)) budgets.push(named(counted, now))
    }
    return budgets
  }

  return {
    timeZone: policy.timeZone,
    hasModels,
    activeSince: new Map(limits.map(({ limit: { key, activeSince } }) => [key, activeSince])),
    counting: areOfCallers ? rememberedFor(counting) : counting,
    naming: (caller, now) =>
      limits.flatMap(({ limit, named }) => {
        const counted = countedFor(limit.entry, caller, policy)
        return counted === undefined ? [] : [named(counted, now)]
      }),
    budgetOf: (entry, counted, now) => limits.find(({ limit }) => limit.entry === entry)?.named(counted, now),
  }
}

/** Remembers the budgets of callers within their windows. */
function rememberedFor(counting: BudgetPlan['counting']): BudgetPlan['counting'] {
  const known = new Map<string | number, { readonly budgets: readonly NamedBudget[]; readonly within: Window }>()
  return (caller, attempt, now) => {
    const id = callerKey(caller)
    const found = known.get(id)
    if (found !== undefined && now >= found.within.start && now < found.within.end) return found.budgets
    if (known.size >= namedMax) known.clear()
    const budgets = counting(caller, attempt, now)
    const start = budgets.reduce((latest, { window }) => Math.max(latest, window.start), -Infinity)
    const end = budgets.reduce((first, { window }) => Math.min(first, window.end), Infinity)
    known.set(id, { budgets, within: { start, end } })
    return budgets
  }
}

/** Budgets of one limit, and callers, that are remembered. They can be found again at any time. */
const namedMax = 10_000

/** The budgets of a limit by the callers that they count. Those of the current window are made once. */
function namedIn(limit: PlannedLimit) {
  const { entry, usd, key, text, models, members, activeSince, windowOf } = limit
  const known = new Map<string, NamedBudget>()
  let current: Window | undefined

  function named(caller: string, now: number): NamedBudget {
    const window = windowOf(now)
    if (window !== current || known.size >= namedMax) known.clear()
    current = window
    const found = known.get(caller)
    if (found !== undefined) return found
    const made: NamedBudget = {
      kind: 'usd',
      text,
      key: `${key} ${JSON.stringify(caller)} ${window.start}`,
      most: usd.nanoUsd,
      isOpenWhenAway: usd.isOpenWhenAway ?? false,
      window,
      activeSince,
      scope: { subject: entry.subject, caller, members, models },
      limit,
    }
    known.set(caller, made)
    return made
  }
  return { limit, named }
}

/** As `countedFor`, with limits for providers: they count all callers. */
function countedAt({ entry }: MoneyLimit, caller: Caller, provider: string, policy: AccessPolicy): string | undefined {
  const { subject } = entry
  if (subject.kind === 'provider') return subject.id === provider ? '' : undefined
  return countedFor(entry, caller, policy)
}

function planned(
  entry: AccessLimit,
  usd: MoneyAmount,
  { timeZone, teams }: AccessPolicy,
): Omit<PlannedLimit, 'activeSince'> {
  const { subject } = entry
  const models = entry.models?.map((name) => name.toLowerCase()).toSorted()
  const { leads = [], members = [] } = (subject.kind === 'team' && teams.get(subject.name)) || {}
  const ofModels = entry.models === undefined ? '' : ` for ${entry.models.join(', ')}`
  const period = periodText(usd.per)
  return {
    entry,
    usd,
    text: `${subjectText(subject)}, ${period}${ofModels}`,
    key: JSON.stringify([subjectText(subject), usd.per, models ?? null, usd.per === 'total' ? '' : timeZone]),
    models,
    members: [...new Set([...leads, ...members])],
    windowOf: windowsOf(usd.per, timeZone),
  }
}

/** Whether the amount of a budget is the caller's own business. */
export function isOwnBudget({ scope: { subject } }: NamedBudget): boolean {
  return ['each person', 'each key', 'person', 'key'].includes(subject.kind)
}
