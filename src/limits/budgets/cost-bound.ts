import type { Demand } from '../../formats/demand.ts'
import { hasProviderTools } from '../../formats/find-provider-tools.ts'
import { referencesIn } from '../../formats/find-references.ts'
import type { BudgetedAttempt } from './budgets.ts'
import { estimateOf, withFullContext, type Estimate, type EstimatedModel } from './estimate.ts'
import type { LearnedSurpluses, Surplus } from './surpluses.ts'

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

/** What bounds the cost of an attempt. */
export interface BoundFacts {
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
export function boundOf(attempt: BudgetedAttempt, demand: Demand, facts: BoundFacts): CostBound {
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
function fullCost({ context }: BudgetedAttempt, demand: Demand, { estimatedModel, isHard }: BoundFacts): number {
  const model = isHard ? estimatedModel : { ...estimatedModel, assumedOutput: Infinity }
  return estimateOf(withFullContext(demand, context), model)?.nanoUsd ?? 0
}

const free: CostBound = { seen: undefined, most: 0, alone: 0, extra: 0, surplus: 0, isSteady: true }
