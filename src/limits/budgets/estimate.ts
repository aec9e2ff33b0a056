import type { Ask } from '../../formats/ask.ts'
import type { Demand } from '../../formats/demand.ts'
import { hasProviderTools } from '../../formats/find-provider-tools.ts'
import { referencesIn } from '../../formats/find-references.ts'
import { assumed } from '../../formats/size.ts'
import type { Usage } from '../../formats/usage.ts'
import type { CostOf } from '../../prices/cost.ts'
import type { ServedModel } from '../../prices/token-sizes.ts'
import type { LearnedSurpluses, Surplus } from './surpluses.ts'

const { answerTokens: assumedTokens, contextTokens, countMax } = assumed

/** A model at a provider, as an estimate needs it. */
export interface EstimatedModel {
  readonly costOf: CostOf | undefined
  /** Most tokens of an answer. Undefined: not known. */
  readonly maxOutput: number | undefined
  /** Bytes of text for a token; at least these, for nearly all texts. */
  readonly bytesPerToken: number
  /** Tokens of an answer for which neither the request nor the model states a limit. Default 4,096. */
  readonly assumedOutput?: number
  /** Times the tokens of the answers: more are held than the request may take. Default 1. */
  readonly margin?: number
}

/** The demand with a prompt that fills the model's context: a provider can bill no more. */
function withFullContext(demand: Demand, context: number = contextTokens): Demand {
  return { ...demand, textBytes: 0, mediaTokens: context }
}

/** Estimated cost of an attempt. */
export interface Estimate {
  /** Whole nano-USD. */
  readonly nanoUsd: number
  readonly promptTokens: number
  /** Of all answers. */
  readonly answerTokens: number
  /** Number of answers. */
  readonly answers: number
  /**
   * The cost that is booked if there was no answer, and the provider may have worked: a client that asks for very many
   * answers and leaves must not use up a budget.
   */
  readonly withoutAnswer: number
  /** The cost if the answers have this many tokens, in nano-USD. */
  costWith(answerTokens: number): number
}

/**
 * An upper bound for the cost of an attempt at the price of its provider. Undefined: no price is known.
 *
 * An answer without a stated limit is taken to have 4,096 tokens at most, or fewer where the model allows fewer. Where
 * the limit of the model is not known, it is taken to be 131,072.
 */
export function estimateOf(demand: Demand, model: EstimatedModel): Estimate | undefined {
  const { costOf } = model
  if (costOf === undefined) return undefined
  const estimate = new AttemptEstimate(demand, model, costOf)
  return Number.isNaN(estimate.nanoUsd) ? undefined : estimate
}

/** A class: each attempt has one. */
class AttemptEstimate implements Estimate {
  /** NaN: no price is known. */
  readonly nanoUsd: number
  readonly promptTokens: number
  readonly answerTokens: number
  /** Most tokens of one answer. */
  readonly #most: number
  readonly #costOf: CostOf
  readonly #demand: Demand

  constructor(demand: Demand, model: EstimatedModel, costOf: CostOf) {
    const { maxOutput = assumedTokens.most, bytesPerToken, assumedOutput = assumedTokens.usual, margin = 1 } = model
    this.#demand = demand
    this.#costOf = costOf
    this.promptTokens = Math.min(countMax, Math.ceil(demand.textBytes / bytesPerToken) + demand.mediaTokens)
    this.#most = Math.min(demand.answerTokens ?? assumedOutput, maxOutput)
    this.answerTokens = Math.min(countMax, Math.ceil(this.#most * demand.answers * margin))
    this.nanoUsd = dearest(costOf, demand, this.promptTokens, this.answerTokens) ?? NaN
  }

  get answers(): number {
    return this.#demand.answers
  }

  get withoutAnswer(): number {
    const { high, most } = assumedTokens
    const longest = this.#demand.answerTokens === undefined ? high : Math.max(this.#most, most)
    return this.costWith(Math.min(this.answerTokens, longest))
  }

  costWith(answerTokens: number): number {
    const tokens = Math.min(countMax, answerTokens)
    return dearest(this.#costOf, this.#demand, this.promptTokens, tokens) ?? this.nanoUsd
  }
}

function usageOf(
  { cacheWrite, serviceTier, multiples }: Demand,
  promptTokens: number,
  completionTokens: number,
): Usage {
  const totalTokens = promptTokens + completionTokens
  const usage: Usage = { promptTokens, completionTokens, totalTokens, isEstimated: true }
  if (cacheWrite === 'none' && serviceTier === undefined && multiples === undefined) return usage
  return {
    ...usage,
    ...(cacheWrite === 'none' ? {} : { cacheWriteTokens: promptTokens }),
    ...(cacheWrite === 'hour' ? { cacheWriteHourTokens: promptTokens } : {}),
    billed: { serviceTier, multiples },
  }
}

/** How long the prompt may be cached: as the caller asks, or as svc asks for the caller. */
function dearerWrite({ cacheWrite }: Demand, { cacheWrite: placed }: CostOf): Demand['cacheWrite'] {
  return placed === undefined || cacheWrite === 'hour' ? cacheWrite : placed
}

/** The highest cost of an answer of text, reasoning, sound or pictures, which may have prices of their own. */
function dearest(costOf: CostOf, demand: Demand, promptTokens: number, answerTokens: number): number | undefined {
  const usage = usageOf({ ...demand, cacheWrite: dearerWrite(demand, costOf) }, promptTokens, answerTokens)
  const plain = costOf(usage)?.nanoUsd
  if (plain === undefined || costOf.hasOneOutput === true) return plain
  const { billed } = usage
  const others: readonly Usage[] = [
    { ...usage, reasoningTokens: answerTokens },
    { ...usage, billed: { ...billed, audioOut: answerTokens } },
    { ...usage, billed: { ...billed, imageOut: answerTokens } },
  ]
  return others.reduce((most, each) => Math.max(most, costOf(each)?.nanoUsd ?? 0), plain)
}

/** The possible costs of an attempt, beside the estimate. Amounts are in nano-USD. */
export interface CostBound {
  /** Of the model, for such content. */
  readonly seen: Surplus | undefined
  /** The most that it may cost, as far as is known. */
  readonly most: number
  /** Its likely cost: held where {@link most} does not fit, by one attempt at a time. */
  readonly alone: number
  /** The likely cost beyond the estimate; of content by reference without a bill before, the most. */
  readonly surplus: number
  /** A hard limit holds this beyond the estimate: of content by reference the most. */
  readonly extra: number
  /** Bills for such content are as before: {@link most} is what they are likely to be. */
  readonly isSteady: boolean
}

/** An attempt, as far as its bound needs it. */
interface BoundAttempt extends ServedModel {
  readonly ask: Ask
  readonly context?: number | undefined
}

/** What bounds the cost of an attempt. */
interface BoundFacts {
  readonly estimated: Estimate
  readonly estimatedModel: EstimatedModel
  readonly surpluses: LearnedSurpluses
  /** A hard limit counts the attempt, which limits its answers. */
  readonly isHard: boolean
}

/**
 * The bound of an attempt's cost: the estimate, with what the model was seen to bill beyond it. Content by reference,
 * what tools of the provider find, and a model whose bills are not known yet may fill the model's whole context.
 */
export function boundOf(attempt: BoundAttempt, demand: Demand, facts: BoundFacts): CostBound {
  const { estimated, surpluses } = facts
  const { nanoUsd } = estimated
  if (nanoUsd === 0) return free
  const hasReferences = hasProviderTools(attempt.ask) || referencesIn(attempt.ask.body) > 0
  const content = hasReferences ? 'references' : demand.mediaTokens > 0 ? 'media' : 'text'
  const seen = surpluses.of(attempt, content)
  const isSteady = !hasReferences && seen.isSteady
  const likely = nanoUsd + seen.nanoUsd
  const most = isSteady ? likely : Math.max(likely, fullCost(attempt, demand, facts))
  const extra = hasReferences ? most - nanoUsd : likely - nanoUsd
  const surplus = hasReferences && !seen.isKnown ? extra : likely - nanoUsd
  return { seen, most, alone: nanoUsd + surplus, extra, surplus, isSteady }
}

/** The cost of a full context, with the longest answer that is possible. */
function fullCost({ context }: BoundAttempt, demand: Demand, { estimatedModel, isHard }: BoundFacts): number {
  const model = isHard ? estimatedModel : { ...estimatedModel, assumedOutput: Infinity }
  return estimateOf(withFullContext(demand, context), model)?.nanoUsd ?? 0
}

const free: CostBound = { seen: undefined, most: 0, alone: 0, extra: 0, surplus: 0, isSteady: true }
