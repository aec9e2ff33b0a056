import type { Demand } from '../../formats/demand.ts'
import { assumed } from '../../formats/size.ts'
import type { Usage } from '../../formats/usage.ts'
import type { CostOf } from '../../prices/cost.ts'

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
export function withFullContext(demand: Demand, context: number = contextTokens): Demand {
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

/** The highest cost of an answer of text, reasoning, sound or pictures, which may have prices of their own. */
function dearest(costOf: CostOf, demand: Demand, promptTokens: number, answerTokens: number): number | undefined {
  const usage = usageOf(demand, promptTokens, answerTokens)
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
