import type { Usage } from '../formats/usage.ts'
import { countOf } from './units.ts'

/** An answer, as far as its provider counted it. */
export interface CountedAnswer {
  /** The last counts of the provider. */
  readonly usage: Usage | undefined
  /** The answer ended before its provider had counted it. */
  readonly isCut: boolean
}

/** The estimated size of an answer. */
export interface EstimatedTokens {
  readonly prompt: number
  readonly answer: number
}

/** Whether the provider counted the prompt and the whole answer. */
export function isCounted({ usage, isCut }: CountedAnswer): boolean {
  return !isCut && countOf(usage?.promptTokens) !== undefined && countOf(usage?.completionTokens) !== undefined
}

/** The usage of an answer. Counts that its provider did not report are estimated, and the usage is marked. */
export function estimatedUsage(answer: CountedAnswer, estimate: EstimatedTokens): Usage | undefined {
  const { usage, isCut } = answer
  if (usage?.isEstimated === true || isCounted(answer)) return usage
  const promptTokens = countOf(usage?.promptTokens) ?? estimate.prompt
  const counted = countOf(usage?.completionTokens)
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
