import type { Ask } from '../../formats/ask.ts'
import type { Demand } from '../../formats/demand.ts'
import { WireError } from '../../formats/error.ts'
import { usualTokens } from '../../formats/estimate-tokens.ts'
import { formats } from '../../formats/format-list.ts'
import { sizeKey, type LearnedSizes } from '../../prices/token-sizes.ts'
import { openPolicy, subjectText, type AccessLimit, type AccessPolicy, type MoneyPeriod } from '../access-policy.ts'
import { callerPerson, type CallerIdentity } from '../named-limits.ts'
import { attemptHold, coveredTokens } from './attempt-hold.ts'
import type { BudgetAuthority, BudgetDecision } from './budget-authority.ts'
import { BudgetRefusal, type BudgetedAttempt, type Budgets, type HoldAnswer } from './budgets.ts'
import { estimateOf, type Estimate } from './estimate.ts'
import { budgetPlan, isOwnBudget, type BudgetPlan, type NamedBudget } from './named-budgets.ts'
import type { OpenHolds } from './open-holds.ts'
import { localTime } from './window.ts'

/** The active limits of money, from access.json. */
export interface MoneyLimits extends Budgets {
  /** Activates a policy. Attempts under way are settled in the budgets that hold them. */
  replace(policy: AccessPolicy): void
  /** The budgets that name a caller, for this caller to see. */
  stateOf(caller: CallerIdentity): Promise<readonly BudgetReport[]>
  /** The state of the budgets of these entries of the policy, with all amounts, for owners to see. */
  statesOf(counted: readonly CountedEntry[]): Promise<readonly BudgetReport[]>
}

/** An entry of access.json, for callers that it counts together. */
export interface CountedEntry {
  readonly entry: AccessLimit
  /** As `countedFor` gives it. */
  readonly counted: string
}

/** The state of a budget. Amounts are in nano-USD, and shown only for the caller's own budgets. */
export interface BudgetReport {
  /** As in access.json. */
  readonly subject: string
  readonly per: MoneyPeriod
  /** Unix milliseconds; `undefined`: it has no end. */
  readonly windowEnd: number | undefined
  readonly models: readonly string[] | undefined
  readonly amounts: { readonly limit: number; readonly used: number; readonly held: number } | undefined
}

/** Options of {@link moneyLimits}. */
export interface MoneyLimitsOptions {
  readonly authority: BudgetAuthority
  /** Unix milliseconds. */
  readonly now: () => number
  /** Learned from counted answers. */
  readonly tokenSizes: LearnedSizes
  /** Gets the holds of this process. */
  readonly openHolds: OpenHolds
}

/** Limits of money without any entry. */
export function moneyLimits({ authority, now, tokenSizes: sizes, openHolds }: MoneyLimitsOptions): MoneyLimits {
  let plan: BudgetPlan = budgetPlan(openPolicy, now())

  function estimate(attempt: BudgetedAttempt, demand: Demand, isHard: boolean): Estimate | undefined {
    const { costOf, maxOutput } = attempt
    return estimateOf(demand, {
      costOf,
      maxOutput,
      bytesPerToken: sizes.prompts.least(sizeKey(attempt)),
      ...(isHard ? { assumedOutput: hardOutput, margin: hardMargin } : {}),
    })
  }

  function hold(attempt: BudgetedAttempt): HoldAnswer | Promise<HoldAnswer> {
    const { ask, caller, provider, model, listedNames } = attempt
    const budgets = plan.counting(caller, { provider, models: namesOf(ask.model, [model, ...listedNames]) }, now())
    if (budgets.length === 0) return undefined
    const demand = formats[ask.format].demand(ask)
    const hardest = budgets.find(({ limit }) => limit.usd.isHard)
    const estimated = estimate(attempt, demand, hardest !== undefined)
    if (estimated === undefined) return unpriced(attempt)
    const begin = (answer: BudgetDecision): HoldAnswer => {
      const by = answer.kind === 'refused' ? budgets[answer.by] : undefined
      if (answer.kind === 'refused') return exhausted(by, plan.timeZone)
      if (hardest === undefined) return begun(attempt, { demand, estimated, answer })
      const held = hardHold(ask, { demand, estimated, amount: answer.amount })
      if (held !== undefined) return begun(attempt, { demand, estimated, answer, hard: held })
      authority.settle(answer.hold, 0)
      return exhausted(hardest, plan.timeZone)
    }
    const answer = authority.admit(budgets, estimated.nanoUsd)
    return answer instanceof Promise ? answer.then(begin, storeAway) : begin(answer)
  }

  function begun(attempt: BudgetedAttempt, { demand, estimated, answer, hard }: BegunAttempt): HoldAnswer {
    const { ask, caller, provider, model, listedAs = model, costOf = () => undefined } = attempt
    const { user, userId } = callerPerson(caller)
    const key = sizeKey({ provider, model })
    const { textBytes: bytes, mediaTokens } = demand
    const prompt = formats[ask.format].promptSize?.(ask)
    const usual = sizes.prompts.usual(key)
    return attemptHold({
      authority,
      hold: answer.hold,
      amount: answer.amount,
      estimate: estimated,
      place: { line: caller.key?.line ?? 0, user, userId, team: caller.key?.team, model: listedAs, provider },
      openHolds,
      costOf,
      promptTokens: prompt === undefined ? Math.ceil(bytes / usual) + mediaTokens : usualTokens(prompt, usual),
      bytesPerToken: sizes.answers.usual(key),
      ...(hard === undefined ? {} : { hard }),
    })
  }

  return {
    hold,
    replace(policy) {
      plan = budgetPlan(policy, now(), plan)
    },
    async stateOf(caller) {
      const budgets = plan.naming(caller, now())
      const own = budgets.filter(isOwnBudget)
      const uses = await authority.uses(own)
      return budgets.map((budget) => reportOf(budget, uses[own.indexOf(budget)]))
    },
    async statesOf(counted) {
      const at = now()
      const budgets = counted.flatMap(({ entry, counted: callers }) => plan.budgetOf(entry, callers, at) ?? [])
      const uses = await authority.uses(budgets).catch(storeAway)
      return budgets.map((budget, index) => reportOf(budget, uses[index]))
    },
  }
}

interface BegunAttempt {
  readonly demand: Demand
  readonly estimated: Estimate
  readonly answer: BudgetDecision & { readonly kind: 'held' }
  readonly hard?: HardHold
}

type HardHold = { readonly answerTokensMax: number | undefined }

/** Under a hard limit, tokens of an answer for which neither the request nor the model states a limit. */
const hardOutput = 16_384
/**
 * Under a hard limit, the tokens that are held for each that an answer may have: its text is measured in bytes, and may
 * have fewer of them for a token than usual.
 */
const hardMargin = 1.25
/** Fewest tokens of an answer that are worth a request: some providers refuse lower limits. */
const hardOutputMin = 16

/** What a hold under a hard limit pays for; `undefined`: too little, so that it must be given up. */
function hardHold(
  ask: Ask,
  { demand, estimated, amount }: { readonly demand: Demand; readonly estimated: Estimate; readonly amount: number },
): HardHold | undefined {
  const isShort = amount < estimated.nanoUsd
  const isStated = demand.answerTokens !== undefined
  if (!isShort && (isStated || estimated.nanoUsd === 0)) return { answerTokensMax: undefined }
  const isLimitable = formats[ask.format].limitAnswer !== undefined
  if (!isLimitable) return isShort ? undefined : { answerTokensMax: undefined }
  const tokens = Math.floor(coveredTokens({ amount, estimate: estimated }) / demand.answers / hardMargin)
  if (tokens < (isShort ? hardOutputMin : 1)) return undefined
  return { answerTokensMax: tokens }
}

function reportOf(
  { limit: { usd, entry }, nanoUsd, window }: NamedBudget,
  use: { readonly used: number; readonly held: number } | undefined,
): BudgetReport {
  return {
    subject: subjectText(entry.subject),
    per: usd.per,
    windowEnd: window.end === Infinity ? undefined : window.end,
    models: entry.models,
    amounts: use && { limit: nanoUsd, ...use },
  }
}

/** All names of a model, with and without a provider in front. */
function namesOf(asked: string, others: readonly string[]): readonly string[] {
  const names = [asked]
  const slash = asked.indexOf('/')
  if (slash !== -1) names.push(asked.slice(slash + 1))
  for (const name of others) if (!names.includes(name)) names.push(name)
  return names
}

const nanoPerUsd = 1e9

function exhausted(budget: NamedBudget | undefined, zone: string): BudgetRefusal {
  if (budget === undefined) return new BudgetRefusal('exhausted', 'A budget is used up')
  const { limit, nanoUsd, window } = budget
  const amount = isOwnBudget(budget) ? ` of ${nanoUsd / nanoPerUsd} USD` : ''
  const end = window.end === Infinity ? 'it does not begin again' : `it begins again at ${localTime(window.end, zone)}`
  return new BudgetRefusal('exhausted', `The budget${amount} for ${limit.text}, is used up or held by requests; ${end}`)
}

function unpriced({ model, provider }: BudgetedAttempt): BudgetRefusal {
  return new BudgetRefusal(
    'unpriced',
    `No price is known for the model '${model}' at '${provider}', and a limit of money counts it: set "price" of the ` +
      'model in providers.json, or of the provider in prices.json',
  )
}

function storeAway(error: unknown): never {
  throw new WireError(
    503,
    'overloaded_error',
    'store_unavailable',
    'What was spent cannot be read; try again shortly',
    {
      headers: { 'retry-after': '1', 'x-should-retry': 'true' },
      cause: error,
    },
  )
}
