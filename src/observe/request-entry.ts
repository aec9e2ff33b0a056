import type { PriceSource } from '../formats/model.ts'

/** A request as the page and its API show it, without its content. `GET /api/requests/{id}` returns one. */
export interface RequestEntry {
  readonly time: number
  readonly id: string
  /** User name of the caller, with sign-in; `key:NAME` of a program. */
  readonly user?: string
  /** The person whose own key the program has. */
  readonly person?: string
  /** The session of an agent, as it named it. */
  readonly session?: string
  /** The format of the request, such as `chat` or `embeddings`. */
  readonly api: string
  /** Empty: it could not be read; of a stored request: it is no model of this service. */
  readonly model: string
  /** The provider that answered. */
  readonly provider?: string
  /** The model that the answer names, if it is not the one that was asked for. */
  readonly served?: string
  /** `served` is another model. Absent: the name that was asked for is none of a model, such as a router's. */
  readonly isOtherModel?: true
  readonly stream: boolean
  /** 499: the caller left. */
  readonly status: number
  /** Code of the error. */
  readonly error?: string
  readonly firstTokenMs?: number
  readonly totalMs: number
  readonly promptTokens?: number
  readonly completionTokens?: number
  /** Tokens by kind, of a stored request. No token is counted in two of them. */
  readonly tokens?: TokenKinds
  /** USD. Absent if the price or the usage is unknown. */
  readonly cost?: number
  /** What caches of the prompt saved in USD, less the surcharge of writes; below 0 where more was written than read. */
  readonly saved?: number
  /** Where the price is from; `reported`: the provider named the cost itself. */
  readonly costSource?: PriceSource
  /** The provider's counts contradict each other, and `cost` is of the larger ones. */
  readonly hasConflict?: true
  /** The price is that of `served`. */
  readonly isPriceOfServed?: true
  /** Tokens and cost are estimates: the answer was stopped or cut before its provider counted it. */
  readonly isEstimated?: true
  readonly trail: readonly AttemptEntry[]
  /** How long it waited for a slot, in milliseconds. Absent: it did not. */
  readonly waitedMs?: number
  /** Limits of access.json that it met. Absent: none. */
  readonly limits?: readonly MetLimit[]
  /** It is from the ledger; a request that is remembered is not. */
  readonly isStored?: true
}

/** One attempt of a request. */
export interface TrailEntry {
  readonly provider: string
  /** HTTP status of the upstream; absent when none arrived. */
  readonly status?: number
  /** Class of the failure, such as `rate_limit`; absent when the provider answered. */
  readonly failure?: string
  readonly ms: number
}

/** The provider that a request under way waits for. */
export interface AskedProvider {
  readonly provider: string
  /** Milliseconds since its turn came. */
  readonly ms: number
}

/** One attempt of a request in the list, with its cost. */
export interface AttemptEntry extends TrailEntry {
  /** The model that the answer names, if it is not the one that was asked for. Not stored. */
  readonly served?: string
  /** Reported tokens of an attempt that did not become the answer, and their cost in USD. */
  readonly promptTokens?: number
  readonly completionTokens?: number
  readonly cost?: number
  /** What limits of money booked for an attempt without an answer, in USD. */
  readonly bookedCost?: number
  /** The provider may have processed and billed the attempt although no answer arrived. */
  readonly mayBeBilled?: true
}

/** A limit that a request met. It has no name of a person, since records outlive people. */
export interface MetLimit {
  /** `waited`: for a slot. `passed_over`: a provider was, by a budget. */
  readonly met: 'refused' | 'waited' | 'passed_over'
  /** As in access.json, but `person` for a limit of one person. */
  readonly for: string
  readonly kind: 'requests' | 'tokens' | 'at_once' | 'usd'
  /** Nano-USD of `usd`; USD where it is shown. Absent: the budget is shared with others. */
  readonly limit?: number
  /** Absent of `at_once`. */
  readonly per?: string
  /** Absent: all. */
  readonly models?: readonly string[]
}

/** Tokens by kind. */
export interface TokenKinds {
  readonly input: number
  readonly cached: number
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
}

/** The requests that ended in one minute. */
export interface MinuteSums {
  /** Start of the minute, Unix milliseconds. */
  readonly time: number
  readonly requests: number
  /** Requests that ended with an error, without those whose caller left. */
  readonly errors: number
  readonly promptTokens: number
  readonly completionTokens: number
  /** Some of the tokens are estimates. */
  readonly isEstimated?: true
  /** Milliseconds, to within 5 %; absent without a stream. */
  readonly firstTokenP50?: number
  readonly firstTokenP95?: number
}
