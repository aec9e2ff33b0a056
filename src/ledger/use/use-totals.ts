import type { TimeBuckets } from '../../observe/time-histogram.ts'
import type { UseKey } from './charges.ts'
import type { Counters } from './counters.ts'

/** The use in one hour, by all names it is kept by. */
export interface UseSum extends UseKey {
  /** Start of the local hour, Unix milliseconds. */
  readonly hour: number
  /** The local date, such as 20261123. */
  readonly day: number
  readonly counters: Counters
}

/** The hour and the day of a sum, and the names that speed and failures are kept by: not people, and not keys. */
export interface SumPlace {
  /** Start of the local hour, Unix milliseconds. */
  readonly hour: number
  /** The local date, such as 20261123. */
  readonly day: number
  /** Empty: no model of this service was asked for. */
  readonly model: string
  /** Empty: no provider answered. */
  readonly provider: string
}

/** How long answers without an error took. */
export interface TimesSum extends SumPlace {
  /** Times to the first token of streams. */
  readonly first: TimeBuckets
  /** Times to the end. */
  readonly total: TimeBuckets
}

/** How often something failed in one way. */
export interface FailureSum extends SumPlace {
  /** Code of the error of a request, or class of the failure of an attempt. */
  readonly failure: string
  readonly requests: number
  readonly attempts: number
}

/** The sums of some requests. */
export interface UseTotals {
  readonly use: readonly UseSum[]
  readonly times: readonly TimesSum[]
  readonly failures: readonly FailureSum[]
}
