import { answerQuarters, estimatedUsage } from '../../formats/estimate-tokens.ts'
import type { Part } from '../../formats/part.ts'
import type { Usage } from '../../formats/usage.ts'
import type { CostOf } from '../../prices/cost.ts'
import type { BudgetAuthority } from './budget-authority.ts'
import type { Estimate } from './estimate.ts'

/** The cost that an attempt was booked with. */
export interface BookedCost {
  /** Whole nano-USD. */
  readonly nanoUsd: number
  /** The provider reported no usage, or the attempt had no known end. */
  readonly isEstimated: boolean
}

/** Money that is held for one attempt. It ends on every path, by `end` or `fail`. */
export interface AttemptHold {
  /** Counts parts of a stream. A stream that outgrows its hold raises it by a quarter of its tokens. */
  count(parts: readonly Part[]): void
  /**
   * The answer is over: complete, cut or cancelled.
   *
   * @param isComplete `usage` is that of the whole answer
   */
  end(usage: Usage | undefined, isComplete: boolean): BookedCost
  /** There was no answer. @param mayHaveWorked the provider may have done the work, and may bill it */
  fail(mayHaveWorked: boolean): BookedCost
}

/** Options of {@link attemptHold}. */
export interface AttemptHoldOptions {
  readonly authority: Pick<BudgetAuthority, 'raise' | 'settle'>
  /** Number of the hold. */
  readonly hold: number
  /** The amount that is held, in nano-USD. */
  readonly amount: number
  readonly estimate: Estimate
  readonly costOf: CostOf
  /** Likely tokens of the prompt, for an answer whose provider counts none. */
  readonly promptTokens: number
  /** Called with the counts of a provider. */
  readonly onCounted: (usage: Usage) => void
}

const growth = 1.25
/** Of text, a quarter token is estimated for each character. */
const quartersPerToken = 4

export function attemptHold(options: AttemptHoldOptions): AttemptHold {
  return new OpenAttempt(options)
}

/** A class: a stream has one, and calls it for each part. */
class OpenAttempt implements AttemptHold {
  readonly #options: AttemptHoldOptions
  #quarters = 0
  #isFinished = false
  /** Above these the hold is raised. */
  #quartersHeld: number
  #booked: BookedCost | undefined

  constructor(options: AttemptHoldOptions) {
    this.#options = options
    this.#quartersHeld = quartersPerToken * coveredTokens(options)
  }

  count(parts: readonly Part[]): void {
    for (const part of parts) {
      this.#quarters += answerQuarters(part)
      if (part.finishReason !== undefined) this.#isFinished = true
    }
    if (this.#quarters > this.#quartersHeld) this.#raise()
  }

  #raise(): void {
    const { authority, hold, estimate } = this.#options
    this.#quartersHeld = Math.ceil(this.#quarters * growth)
    authority.raise(hold, estimate.costWith(Math.ceil(this.#quartersHeld / quartersPerToken)))
  }

  end(usage: Usage | undefined, isComplete: boolean): BookedCost {
    const { costOf, promptTokens, onCounted, estimate } = this.#options
    if (usage !== undefined && usage.isEstimated !== true && (isComplete || this.#isFinished)) {
      const cost = costOf(usage)
      if (isComplete) onCounted(usage)
      if (cost !== undefined) return this.#book(cost.nanoUsd, false)
    }
    const cost = costOf(estimatedUsage(usage, promptTokens, this.#quarters))
    return this.#book(cost?.nanoUsd ?? estimate.nanoUsd, true)
  }

  fail(mayHaveWorked: boolean): BookedCost {
    return mayHaveWorked ? this.#book(this.#options.estimate.withoutAnswer, true) : this.#book(0, false)
  }

  #book(nanoUsd: number, isEstimated: boolean): BookedCost {
    if (this.#booked === undefined) {
      this.#booked = { nanoUsd, isEstimated: isEstimated && nanoUsd > 0 }
      this.#options.authority.settle(this.#options.hold, nanoUsd)
    }
    return this.#booked
  }
}

/** The tokens of an answer that an amount pays for. A short hold pays for fewer than the estimate has. */
function coveredTokens({ amount, estimate }: AttemptHoldOptions): number {
  const { nanoUsd, answerTokens } = estimate
  if (amount >= nanoUsd) return answerTokens
  const prompt = estimate.costWith(0)
  return amount <= prompt ? 0 : (answerTokens * (amount - prompt)) / (nanoUsd - prompt)
}
