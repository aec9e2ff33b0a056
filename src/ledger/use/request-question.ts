import type { RequestEntry } from '../../observe/request-entry.ts'
import type { Person } from '../../people/person.ts'

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
  /** The session of an agent, as it named it. */
  readonly session?: string
  /** An outcome, or an HTTP status. */
  readonly status?: StoredOutcome | number
  /** A provider failed, or was passed over. */
  readonly hasFailed?: true
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

/** Answer to {@link RequestQuestion}. */
export interface RequestPage {
  readonly requests: readonly RequestEntry[]
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
