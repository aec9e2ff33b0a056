import type { Ask } from '../../formats/ask.ts'
import type { MetLimit } from '../../observe/request-entry.ts'
import type { Caller } from '../../people/person.ts'
import type { CostOf } from '../../prices/cost.ts'
import type { AttemptHold } from './attempt-hold.ts'

/** Limits of money, as the gateway uses them: each attempt holds money before its provider is asked. */
export interface Budgets {
  /**
   * Holds the estimate of an attempt in all budgets that count it. `undefined`: none does. A promise while sums are
   * read, or when another process decides.
   *
   * @throws {WireError} 503 `store_unavailable` when the sums cannot be read
   */
  hold(attempt: BudgetedAttempt): HoldAnswer | Promise<HoldAnswer>
}

export type HoldAnswer = AttemptHold | BudgetRefusal | undefined

/** An attempt that is about to be made. */
export interface BudgetedAttempt {
  readonly ask: Ask
  readonly caller: Caller
  /** Id of the provider. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly model: string
  /** Names of the requested model: in the request, of the alias's model, and in model lists. */
  readonly listedNames: readonly string[]
  /** The name that the sums of use have for the requested model; absent: `model`. */
  readonly listedAs?: string | undefined
  readonly costOf: CostOf | undefined
  /** Most tokens of an answer. Undefined: not known. */
  readonly maxOutput: number | undefined
  /** Most tokens of a prompt and its answer. Undefined: not known. */
  readonly context?: number | undefined
}

/** A budget has no room for an attempt, or the price of the attempt is not known. */
export class BudgetRefusal extends Error {
  override readonly name = 'BudgetRefusal'
  /** `unpriced`: the provider may be asked if no other can answer. */
  readonly kind: 'exhausted' | 'unpriced' | 'unpriced_hard'
  /** The budget without room. */
  readonly limit: MetLimit | undefined

  constructor(kind: BudgetRefusal['kind'], message: string, limit?: MetLimit) {
    super(message)
    this.kind = kind
    this.limit = limit
  }
}
