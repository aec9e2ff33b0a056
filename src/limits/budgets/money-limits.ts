import { setTimeout } from 'node:timers/promises'
import type { Ask } from '../../formats/ask.ts'
import type { Demand } from '../../formats/demand.ts'
import { WireError } from '../../formats/error.ts'
import { formats } from '../../formats/format-list.ts'
import { assumed, usualTokens } from '../../formats/size.ts'
import type { Caller } from '../../people/person.ts'
import type { LearnedSizes, ModelSizes } from '../../prices/token-sizes.ts'
import { openPolicy, subjectText, type AccessLimit, type AccessPolicy, type MoneyPeriod } from '../access-policy.ts'
import { metBudget } from '../met-limit.ts'
import { AttemptHold, coveredTokens } from './attempt-hold.ts'
import type { BudgetAuthority, BudgetDecision } from './budget-authority.ts'
import { BudgetRefusal, type BudgetedAttempt, type Budgets, type HoldAnswer } from './budgets.ts'
import { boundOf, estimateOf, type CostBound, type Estimate } from './estimate.ts'
import { budgetPlan, isOwnBudget, type BudgetPlan, type NamedBudget } from './named-budgets.ts'
import type { HeldPlace, OpenHolds } from './open-holds.ts'
import { LearnedSurpluses, type LargestOfLate } from './surpluses.ts'
import { localTime } from './window.ts'

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

export interface MoneyLimitsOptions {
  readonly authority: BudgetAuthority
  /** Unix milliseconds. */
  readonly now: () => number
  /** Learned from counted answers. */
  readonly tokenSizes: LearnedSizes
  /** Gets the holds of this process. */
  readonly openHolds: OpenHolds
  /** Default: a timer. */
  readonly wait?: (ms: number) => Promise<void>
}

const sharedKinds: ReadonlySet<string> = new Set(['everyone', 'team', 'provider'])

/** The active limits of money, from access.json. At first there are none. */
export class MoneyLimits implements Budgets {
  readonly #options: MoneyLimitsOptions
  readonly #surpluses = new LearnedSurpluses()
  #plan: BudgetPlan
  #shared: readonly AccessLimit[] = []

  constructor(options: MoneyLimitsOptions) {
    this.#options = options
    this.#plan = budgetPlan(openPolicy, options.now())
  }

  /** Activates a policy. Attempts under way are settled in the budgets that hold them. */
  replace(policy: AccessPolicy): void {
    this.#plan = budgetPlan(policy, this.#options.now(), this.#plan)
    this.#shared = policy.limits.filter(({ subject, usd }) => usd !== undefined && sharedKinds.has(subject.kind))
  }

  /** The budgets that name a caller, for this caller to see. */
  async stateOf(caller: Caller): Promise<readonly BudgetReport[]> {
    const budgets = this.#plan.naming(caller, this.#options.now())
    const own = budgets.filter(isOwnBudget)
    const uses = await this.#options.authority.uses(own)
    return budgets.map((budget) => reportOf(budget, uses[own.indexOf(budget)]))
  }

  /** The state of the budgets of these entries of the policy, with all amounts, for owners to see. */
  async statesOf(counted: readonly CountedEntry[]): Promise<readonly BudgetReport[]> {
    const at = this.#options.now()
    const budgets = counted.flatMap(({ entry, counted: callers }) => this.#plan.budgetOf(entry, callers, at) ?? [])
    const uses = await this.#options.authority.uses(budgets).catch(storeAway)
    return budgets.map((budget, index) => reportOf(budget, uses[index]))
  }

  /** The state of the budgets of everyone, teams and providers: those that name no person and no key. */
  async sharedStates(): Promise<readonly BudgetReport[]> {
    return await this.statesOf(this.#shared.map((entry) => ({ entry, counted: '' })))
  }

  hold(attempt: BudgetedAttempt): HoldAnswer | Promise<HoldAnswer> {
    return this.#hold(attempt, 0)
  }

  #hold(attempt: BudgetedAttempt, waited: number): HoldAnswer | Promise<HoldAnswer> {
    const { ask, caller, provider, model, listedNames, costOf, maxOutput } = attempt
    const { authority, tokenSizes, now } = this.#options
    const surpluses = this.#surpluses
    const plan = this.#plan
    const models = plan.hasModels ? namesOf(ask.model, [model, ...listedNames]) : none
    const budgets = plan.counting(caller, { provider, models }, now())
    if (budgets.length === 0) return undefined
    const demand = formats[ask.format].demand(ask)
    const hardest = budgets.find(isHard)
    const sizes = tokenSizes.of(attempt)
    const bytesPerToken = sizes.prompts.least()
    const isLimited = hardest !== undefined
    const openAnswers = demand.answerTokens === undefined ? surpluses.openAnswers(attempt) : undefined
    const output = isLimited
      ? hardAnswers
      : openAnswers && { assumedOutput: Math.max(assumed.answerTokens.usual, openAnswers.value) }
    const estimatedModel = { costOf, maxOutput, bytesPerToken, ...output }
    const estimated = estimateOf(demand, estimatedModel)
    if (estimated === undefined) return unpriced(attempt, budgets)
    const bound = boundOf(attempt, demand, { estimated, estimatedModel, surpluses, isHard: isLimited })
    const asked: AskedAttempt = { attempt, demand, sizes, budgets, hardest, estimated, bound, openAnswers, waited }
    // A hard limit lends nothing to others while an attempt may cost more than is likely.
    const answer = authority.admit(budgets, bound.most, isLimited ? bound.most : bound.alone)
    return answer instanceof Promise
      ? answer.then((decision) => this.#begin(asked, decision), storeAway)
      : this.#begin(asked, answer)
  }

  #begin(asked: AskedAttempt, answer: BudgetDecision): HoldAnswer | Promise<HoldAnswer> {
    const { attempt, demand, budgets, hardest, estimated, bound } = asked
    if (answer.kind === 'refused') {
      const budget = budgets[answer.by]
      const mayWait = answer.isBusy && (!bound.isSteady || hardest !== undefined)
      return mayWait ? this.#later(asked, budget) : exhausted(budget, this.#plan.timeZone)
    }
    if (hardest === undefined) return this.#begun(asked, answer, undefined)
    const fits = bound.isSteady || answer.amount >= (mayFit(budgets, bound) ? bound.most : answer.dearest)
    const hard = fits ? hardHold(attempt.ask, { demand, estimated, amount: answer.amount - bound.extra }) : undefined
    if (hard !== undefined) return this.#begun(asked, answer, hard)
    this.#options.authority.settle(answer.hold, 0)
    return fits ? exhausted(hardest, this.#plan.timeZone) : this.#later(asked, hardest)
  }

  /** Asks again, after others may have ended, and may have shown what the model is billed. */
  #later({ attempt, waited }: AskedAttempt, budget: NamedBudget | undefined): HoldAnswer | Promise<HoldAnswer> {
    const { wait = (ms) => setTimeout(ms) } = this.#options
    const waitMs = busyWaitsMs[waited]
    if (waitMs === undefined) return exhausted(budget, this.#plan.timeZone)
    return wait(waitMs).then(() => this.#hold(attempt, waited + 1))
  }

  #begun(asked: AskedAttempt, { hold, amount }: HeldDecision, hard: HardHold | undefined): AttemptHold {
    const { attempt, demand, sizes, estimated, bound, openAnswers } = asked
    const { authority, openHolds } = this.#options
    const usual = sizes.prompts.usual()
    const { prompt, textBytes, mediaTokens, answerTokens, hasOtherUnits } = demand
    return new AttemptHold({
      authority,
      hold,
      amount: amount - (hard === undefined ? bound.surplus : bound.extra),
      estimate: estimated,
      surplus: bound.surplus,
      seen: bound.seen,
      openAnswers,
      statedTokens:
        answerTokens === undefined ? (attempt.maxOutput ?? Infinity) * demand.answers : estimated.answerTokens,
      place: placeOf(attempt),
      openHolds,
      costOf: attempt.costOf ?? noCost,
      promptTokens: hasOtherUnits ? Math.ceil(textBytes / usual) + mediaTokens : usualTokens(prompt, usual),
      bytesPerToken: sizes.answers.usual(),
      hard,
    })
  }
}

/** An attempt that asks for money. */
interface AskedAttempt {
  readonly attempt: BudgetedAttempt
  readonly demand: Demand
  readonly sizes: ModelSizes
  readonly budgets: readonly NamedBudget[]
  /** One with a hard limit. */
  readonly hardest: NamedBudget | undefined
  readonly estimated: Estimate
  readonly bound: CostBound
  /** It states no limit of its answers. */
  readonly openAnswers: LargestOfLate | undefined
  /** Times that it has waited for another attempt. */
  readonly waited: number
}

/** An attempt waits this long, time after time, for another one that runs alone in a budget. */
const busyWaitsMs = [25, 50, 100, 200, 400, 800] as const

type HeldDecision = BudgetDecision & { readonly kind: 'held' }

const none: readonly string[] = []

function isHard({ limit: { usd } }: NamedBudget): boolean {
  return usd.isHard
}

/** Whether all that an attempt may cost fits into hard limits before anything is spent; else it may run alone. */
function mayFit(budgets: readonly NamedBudget[], { most }: CostBound): boolean {
  return budgets.every((budget) => !isHard(budget) || most <= budget.most)
}

function noCost(): undefined {
  return undefined
}

/** Not a part of `begun`: a hold must not keep the request in memory. */
function placeOf({ caller, provider, model, listedAs = model }: BudgetedAttempt): () => HeldPlace {
  return () => {
    const { key, person } = caller
    return { line: key?.line ?? 0, person, team: key?.team, model: listedAs, provider }
  }
}

type HardHold = { readonly answerTokensMax: number | undefined }

/**
 * Under a hard limit, the tokens that are held for each that an answer may have: its text is measured in bytes, and may
 * have fewer of them for a token than usual.
 */
const hardMargin = 1.25
const hardAnswers = { assumedOutput: assumed.answerTokens.high, margin: hardMargin }
/** Fewest tokens of an answer that are worth a request: some providers refuse lower limits. */
const hardOutputMin = 16

/** The tokens that a hold under a hard limit pays for; `undefined`: too little, so that it must be given up. */
function hardHold(
  ask: Ask,
  { demand, estimated, amount }: { readonly demand: Demand; readonly estimated: Estimate; readonly amount: number },
): HardHold | undefined {
  const isShort = amount < estimated.nanoUsd
  const tokens = Math.floor(coveredTokens({ amount, estimate: estimated }) / demand.answers / hardMargin)
  const isWithin = demand.answerTokens !== undefined && demand.answerTokens <= tokens
  if (!isShort && (isWithin || estimated.nanoUsd === 0)) return { answerTokensMax: undefined }
  const isLimitable = formats[ask.format].limitAnswer !== undefined
  if (!isLimitable) return isShort ? undefined : { answerTokensMax: undefined }
  if (tokens < (isShort ? hardOutputMin : 1)) return undefined
  return { answerTokensMax: tokens }
}

function reportOf(
  { limit: { usd, entry }, most, window }: NamedBudget,
  use: { readonly used: number; readonly held: number } | undefined,
): BudgetReport {
  return {
    subject: subjectText(entry.subject),
    per: usd.per,
    windowEnd: window.end === Infinity ? undefined : window.end,
    models: entry.models,
    amounts: use && { limit: most, ...use },
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
  const { text, most, window } = budget
  const amount = isOwnBudget(budget) ? ` of ${most / nanoPerUsd} USD` : ''
  const end = window.end === Infinity ? 'it does not begin again' : `it begins again at ${localTime(window.end, zone)}`
  const message = `The budget${amount} for ${text}, is used up or held by requests; ${end}`
  return new BudgetRefusal('exhausted', message, metBudget(budget))
}

/** The answer for an attempt without a price; `undefined`: all budgets let it be asked. */
function unpriced({ model, provider }: BudgetedAttempt, budgets: readonly NamedBudget[]): BudgetRefusal | undefined {
  const refusing = budgets.filter(({ limit: { usd } }) => usd.asksUnpriced !== true)
  if (refusing.length === 0) return undefined
  return new BudgetRefusal(
    refusing.some(isHard) ? 'unpriced_hard' : 'unpriced',
    `No price is known for the model '${model}' at '${provider}', and a limit of money counts it: set "price" of the ` +
      'model or the provider in providers.json (0 where it costs nothing), or of the provider in prices.json',
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
