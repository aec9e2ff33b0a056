/** Token counts of service.md 2.3. What a provider left out is absent. */
export interface Usage {
  readonly promptTokens: number | undefined
  readonly completionTokens: number | undefined
  readonly totalTokens: number | undefined
}
