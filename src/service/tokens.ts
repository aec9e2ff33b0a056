/** Tokens of a request and of its answer. */
export interface Tokens {
  readonly promptTokens: number | undefined
  readonly completionTokens: number | undefined
  readonly isEstimated?: true
}
