import type { Usage } from '../formats/usage.ts'
import type { CostOf } from './cost.ts'
import { countOf } from './units.ts'

/** An answer, as far as its provider counted it. */
export interface CountedAnswer {
  /** The last counts of the provider. */
  readonly usage: Usage | undefined
  /** The answer ended before its provider had counted it. */
  readonly isCut: boolean
  /** It has text, calls, reasoning or media, and so it has tokens. */
  readonly hasContent: boolean
  /** Absent: no price is known. */
  readonly costOf?: CostOf | undefined
}

/** The estimated size of an answer. */
export interface EstimatedTokens {
  readonly prompt: number
  readonly answer: number
}

/** Whether the provider counted the prompt and the whole answer. */
export function isCounted(answer: CountedAnswer): boolean {
  return !answer.isCut && promptOf(answer) !== undefined && completionOf(answer) !== undefined
}

/** The count of the prompt; undefined for 0, since each prompt has tokens, if not in a cache. */
function promptOf(answer: CountedAnswer): number | undefined {
  const { promptTokens, cachedTokens, cacheWriteTokens } = answer.usage ?? {}
  const count = countOf(promptTokens)
  if (count !== 0 || countOf(cachedTokens) || countOf(cacheWriteTokens) || isReported(answer)) return count
  return undefined
}

/** The count of the answer; undefined for 0 if it has content. */
function completionOf(answer: CountedAnswer): number | undefined {
  const count = countOf(answer.usage?.completionTokens)
  return count === 0 && answer.hasContent && !isReported(answer) ? undefined : count
}

/** Whether the provider reported the cost: its zeros may be those of a cached answer. */
function isReported({ usage, costOf }: CountedAnswer): boolean {
  return costOf?.(usage)?.source === 'reported'
}

/** The usage without counts that cannot be. */
export function credibleUsage(answer: CountedAnswer): Usage | undefined {
  const { usage } = answer
  if (usage === undefined || usage.isEstimated === true || isCounted({ ...answer, isCut: false })) return usage
  return { ...usage, promptTokens: promptOf(answer), completionTokens: completionOf(answer) }
}

/**
 * The usage of an answer. Counts that its provider did not report, or that cannot be, are estimated, and the usage is
 * marked.
 */
export function estimatedUsage(answer: CountedAnswer, estimate: EstimatedTokens): Usage | undefined {
  const { usage, isCut } = answer
  if (usage?.isEstimated === true || isCounted(answer)) return usage
  const promptTokens = promptOf(answer) ?? estimate.prompt
  const counted = completionOf(answer)
  // Of an answer that was cut, the provider may have counted a part.
  const completionTokens = counted === undefined || isCut ? Math.max(counted ?? 0, estimate.answer) : counted
  return {
    ...usage,
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    isEstimated: true,
  }
}
