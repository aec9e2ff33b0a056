import type { RecordedLimit } from '../../observe/record.ts'
import type { Person } from '../../people/person.ts'
import type { Cost } from '../../prices/cost.ts'
import type { CounterName } from './counters.ts'

/** How a request ended: answered, failed (5xx), refused (4xx), cut after its commit, left by its client. */
export type StoredOutcome = 'ok' | 'failed' | 'refused' | 'cut' | 'left'

/** Whose requests may be shown. Absent members do not limit it. */
export interface RequestScope {
  /** A line of keys. */
  readonly line?: number
  /** Subjects of people, as in `Person`. */
  readonly people?: readonly string[]
}

/** The requests that are wanted. Absent members do not limit them. */
export interface RequestFilter {
  /** Arrival, Unix milliseconds: from `from`, before `to`. */
  readonly from?: number
  readonly to?: number
  readonly model?: string
  /** A provider that answered, or failed in the request. */
  readonly provider?: string
  /** User name of a person, also of one whose own key was used. */
  readonly person?: string
  /** Name of a key. */
  readonly key?: string
  /** An outcome, or an HTTP status. */
  readonly status?: StoredOutcome | number
  /** Code of the error. */
  readonly error?: string
  /** The format of the request. */
  readonly api?: string
  /** Least milliseconds to the first token, and to the end. */
  readonly firstMsMin?: number
  readonly msMin?: number
  /** Least sum of all tokens. */
  readonly tokensMin?: number
  /** Least cost in nano-USD. */
  readonly costMin?: number
  /** The beginning of an id, or a part of the name of a model, provider, error, format, person or key. */
  readonly text?: string
}

/** The place of a request in the order of all. */
export interface RequestPlace {
  readonly time: number
  readonly seq: number
}

/** A question for stored requests, the newest first. */
export interface RequestQuestion {
  readonly scope: RequestScope
  readonly filter: RequestFilter
  /** Only requests before this one. */
  readonly before?: RequestPlace
  readonly rowsMax: number
}

/** Tokens of a request by kind. */
export type StoredTokens = Pick<
  Readonly<Record<CounterName, number>>,
  'input' | 'cached' | 'write5' | 'write60' | 'output' | 'reasoning'
>

/** A request that was stored. Texts are empty where there is none. */
export interface StoredRequest extends RequestPlace {
  readonly id: string
  readonly api: string
  /** Name of the key that was used. */
  readonly key: string
  readonly person: string
  /** Empty: no model of this service was asked for. */
  readonly model: string
  /** The provider that answered. */
  readonly provider: string
  readonly status: number
  readonly error: string
  readonly ms: number
  readonly firstMs?: number
  readonly tokens: StoredTokens
  /** Nano-USD. */
  readonly cost?: number
  readonly isStream: boolean
  /** The provider did not count all tokens. */
  readonly isEstimated: boolean
  /** Its cost is not known. */
  readonly isUnpriced: boolean
  /** The provider's counts contradict each other. */
  readonly hasConflict: boolean
  /** Where the price is from; absent: not stored. */
  readonly costSource?: Cost['source']
  /** Limits that it met. Amounts of `usd` are in nano-USD. */
  readonly limits: readonly RecordedLimit[]
  /** How long it waited for a slot. */
  readonly waitedMs?: number
  /** Number of all attempts. */
  readonly attempts: number
  /** At most 32; none if the first attempt was answered. */
  readonly trail: readonly StoredAttempt[]
}

/** An attempt that was stored. */
export interface StoredAttempt {
  readonly provider: string
  /** 0: none arrived. */
  readonly status: number
  /** Class of the failure; empty: answered. */
  readonly failure: string
  readonly ms: number
  readonly input: number
  readonly output: number
  /** Nano-USD. */
  readonly cost?: number
  /** The cost is what limits of money booked. */
  readonly isBooked: boolean
  readonly mayBeBilled: boolean
}

/** Answer to {@link RequestQuestion}. */
export interface RequestPage {
  readonly requests: readonly StoredRequest[]
  /**
   * Where to go on; absent: there are no older ones. The search for rare requests ends after some milliseconds: then
   * the page has few requests or none, and all after this place were looked at.
   */
  readonly next?: RequestPlace
}

/** A person, or a key by its line, whose use is stored. */
export type StoredCaller =
  | Person
  /** Name of the newest used key of the line. */
  | { readonly name: string; readonly line: number }

/** Values of filters that the database knows. At most 1,000 of each. */
export interface RequestChoices {
  readonly models: readonly string[]
  readonly providers: readonly string[]
  readonly errors: readonly string[]
  readonly apis: readonly string[]
  readonly people: readonly string[]
  readonly keys: readonly string[]
  /** Arrival of the oldest stored request; absent: there is none. */
  readonly oldest?: number
}
