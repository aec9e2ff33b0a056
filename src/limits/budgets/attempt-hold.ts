import type { Part } from '../../formats/part.ts'
import { answerBytes } from '../../formats/size.ts'
import { servedUsage, type Usage } from '../../formats/usage.ts'
import type { CostOf } from '../../prices/cost.ts'
import { estimatedUsage, isCounted } from '../../prices/estimated-usage.ts'
import { countOf } from '../../prices/units.ts'
import type { BudgetAuthority } from './budget-authority.ts'
import type { Estimate } from './estimate.ts'
import type { HeldPlace, OpenHold, OpenHolds } from './open-holds.ts'
import type { LargestOfLate, Surplus } from './surpluses.ts'

/** The cost that an attempt was booked with. */
export interface BookedCost {
  /** Whole nano-USD. */
  readonly nanoUsd: number
  /** The provider reported no usage, or the attempt had no known end. */
  readonly isEstimated: boolean
}

export interface AttemptHoldOptions {
  readonly authority: Pick<BudgetAuthority, 'raise' | 'settle'>
  /** Number of the hold. */
  readonly hold: number
  /** The amount that is held for the estimate, in nano-USD. */
  readonly amount: number
  readonly estimate: Estimate
  /** Likely cost beyond the estimate, in nano-USD: it is held, and booked where nothing was counted. Default 0. */
  readonly surplus?: number
  /** The name that it is stored by, until its cost is recorded. Called when it is stored. */
  readonly place: () => HeldPlace
  readonly openHolds: OpenHolds
  readonly costOf: CostOf
  /** Gets the bill of a whole answer, with what its provider did not count as an estimate. */
  readonly seen?: Pick<Surplus, 'note'> | undefined
  /** Gets the length of a whole answer, if its request stated no limit. */
  readonly openAnswers?: Pick<LargestOfLate, 'note'> | undefined
  /** Most tokens of the answers, as the request or the model states them. Default: any number. */
  readonly statedTokens?: number | undefined
  /** Likely tokens of the prompt, for an answer whose provider counts none. */
  readonly promptTokens: number
  /** Likely bytes of an answer for a token. */
  readonly bytesPerToken: number
  /** Of a hard limit. Absent: no limit. */
  readonly hard?: { readonly answerTokensMax: number | undefined } | undefined
}

const growth = 1.25
const noFacts: AnswerEnd = {}

/** The end of an answer. */
export interface AnswerEnd {
  /** Of the text of a whole answer; that of a stream was counted. */
  readonly wholeBytes?: number | undefined
  /** The model that answered. Absent: the one that was asked for. */
  readonly model?: string | undefined
}

/** Money that is held for one attempt. It ends on every path, by `end` or `fail`. */
export class AttemptHold implements OpenHold {
  readonly #options: AttemptHoldOptions
  nanoUsd: number
  #bytes = 0
  #isFinished = false
  readonly #tokensHeld: number
  /** Above these the hold is raised. */
  #bytesHeld: number
  #booked: BookedCost | undefined
  #isRecorded = false
  /** The last counts of the provider. */
  #usage: Usage | undefined
  /** Of a hard limit: the stream has outgrown its hold, and must end. */
  isUsedUp = false

  constructor(options: AttemptHoldOptions) {
    this.#options = options
    this.#tokensHeld = coveredTokens(options)
    this.#bytesHeld = options.bytesPerToken * this.#tokensHeld
    this.nanoUsd = options.estimate.nanoUsd + this.#surplus
    options.openHolds.add(this)
  }

  get #surplus(): number {
    return this.#options.surplus ?? 0
  }

  get place(): HeldPlace {
    return this.#options.place()
  }

  /** A hard limit counts the attempt. */
  get isHard(): boolean {
    return this.#options.hard !== undefined
  }

  /** Of a hard limit: most tokens of one answer that the hold pays for. Undefined: the request need not change. */
  get answerTokensMax(): number | undefined {
    return this.#options.hard?.answerTokensMax
  }

  /**
   * Counts parts of a stream. A stream that outgrows its hold raises it by a quarter of its tokens; one with a hard
   * limit is used up then, or when its provider has counted more tokens than the hold pays for.
   */
  count(parts: readonly Part[]): void {
    for (const part of parts) {
      this.#bytes += answerBytes(part)
      if (part.finishReason !== undefined) this.#isFinished = true
      this.#usage = part.usage ?? this.#usage
    }
    if (this.#options.hard !== undefined && !this.isUsedUp) this.isUsedUp = this.#isBeyond()
    if (this.#bytes > this.#bytesHeld && (this.#options.hard === undefined || this.isUsedUp)) this.#raise()
  }

  #isBeyond(): boolean {
    return this.#bytes > this.#bytesHeld || (this.#usage?.completionTokens ?? 0) > this.#tokensHeld
  }

  /** What a stream has used so far, estimated where its provider has not counted it. */
  estimatedUsage(): Usage {
    const { promptTokens, bytesPerToken } = this.#options
    const answer = { usage: this.#usage, isCut: true, hasContent: this.#bytes > 0 }
    const tokens = { prompt: promptTokens, answer: Math.ceil(this.#bytes / bytesPerToken) }
    const none = { promptTokens: undefined, completionTokens: undefined, totalTokens: undefined }
    return estimatedUsage(answer, tokens) ?? none
  }

  #raise(): void {
    const { authority, hold, estimate, openHolds, bytesPerToken } = this.#options
    this.#bytesHeld = Math.ceil(this.#bytes * growth)
    const raised = estimate.costWith(Math.ceil(this.#bytesHeld / bytesPerToken)) + this.#surplus
    authority.raise(hold, raised)
    if (raised <= this.nanoUsd) return
    this.nanoUsd = raised
    openHolds.raised()
  }

  /**
   * The answer is over: complete, cut or cancelled.
   *
   * @param isComplete the usage is that of the whole answer
   */
  end(given: Usage | undefined, isComplete: boolean, ending: AnswerEnd = noFacts): BookedCost {
    const { wholeBytes, model } = ending
    const { costOf, promptTokens, bytesPerToken, estimate } = this.#options
    const usage = servedUsage(given, model)
    const bytes = wholeBytes ?? this.#bytes
    const answer = { usage, isCut: !isComplete && !this.#isWhole(usage), hasContent: bytes > 0, costOf }
    if (isCounted(answer) && usage?.isEstimated !== true) {
      const billed = this.#billed(usage)
      if (billed !== undefined) return this.#book(billed, false)
    }
    const estimated = estimatedUsage(answer, {
      prompt: promptTokens,
      answer: Math.ceil(bytes / bytesPerToken),
    })
    const counted = servedUsage(estimated && { ...estimated, isEstimated: true as const }, model)
    const cost = (isComplete ? this.#billed(counted) : costOf(counted)?.nanoUsd) ?? estimate.nanoUsd
    const isPromptKnown = isComplete || countOf(usage?.promptTokens) !== undefined
    return this.#book(cost + (isPromptKnown ? 0 : this.#surplus), true)
  }

  /** Whether a stream without an end was finished and counted. */
  #isWhole(usage: Usage | undefined): boolean {
    return this.#isFinished && usage !== undefined
  }

  /** The cost of a whole answer, which is compared with what was expected; `undefined`: it is not known. */
  #billed(usage: Usage | undefined): number | undefined {
    const { costOf, estimate, seen, openAnswers, statedTokens = Infinity } = this.#options
    const answerTokens = usage?.completionTokens ?? 0
    openAnswers?.note(answerTokens / estimate.answers)
    const expected = estimate.costWith(Math.min(statedTokens, answerTokens))
    const billed = costOf(usage)?.nanoUsd
    if (billed !== undefined) seen?.note({ billed, expected })
    return billed
  }

  /** There was no answer. @param mayHaveWorked the provider may have done the work, and may bill it */
  fail(mayHaveWorked: boolean): BookedCost {
    return mayHaveWorked ? this.#book(this.#options.estimate.withoutAnswer + this.#surplus, true) : this.#book(0, false)
  }

  /** The record of the request has been handed over: a cost of this hold is in it. */
  recorded(): void {
    this.#isRecorded = true
    if (this.#booked !== undefined) this.#options.openHolds.delete(this)
  }

  #book(nanoUsd: number, isEstimated: boolean): BookedCost {
    if (this.#booked === undefined) {
      this.#booked = { nanoUsd, isEstimated: isEstimated && nanoUsd > 0 }
      this.#options.authority.settle(this.#options.hold, nanoUsd)
      if (nanoUsd === 0 || this.#isRecorded) this.#options.openHolds.delete(this)
    }
    return this.#booked
  }
}

/** The tokens of an answer that an amount pays for. A short hold pays for fewer than the estimate has. */
export function coveredTokens({ amount, estimate }: Pick<AttemptHoldOptions, 'amount' | 'estimate'>): number {
  const { nanoUsd, answerTokens } = estimate
  if (amount >= nanoUsd) return answerTokens
  const prompt = estimate.costWith(0)
  return amount <= prompt ? 0 : (answerTokens * (amount - prompt)) / (nanoUsd - prompt)
}
