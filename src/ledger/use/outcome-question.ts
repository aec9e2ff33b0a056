import type { TimeBuckets } from '../../observe/time-histogram.ts'

/** A question for speed and failures in a span of time, of all people and keys. */
export interface OutcomeQuestion {
  /** As in `UseQuestion`. */
  readonly from: number
  readonly to: number
  readonly unit: 'hour' | 'day'
  readonly by: 'model' | 'provider' | 'all'
}

/** Times of one hour or day of all, or of one model or provider in the whole span. */
export interface OutcomeTimes {
  readonly first: TimeBuckets
  readonly total: TimeBuckets
}

/** Answer to {@link OutcomeQuestion}. */
export interface OutcomeAnswer {
  /** By time. */
  readonly times: readonly ({ readonly time: number } & OutcomeTimes)[]
  /** By model or provider; none for `all`. */
  readonly groups: readonly ({ readonly name: string } & OutcomeTimes)[]
  /** By time, then the most frequent first. */
  readonly failures: readonly {
    readonly time: number
    readonly failure: string
    readonly requests: number
    readonly attempts: number
  }[]
}
