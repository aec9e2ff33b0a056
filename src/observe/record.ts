import type { Usage } from '../formats/usage.ts'
import type { Person } from '../people/person.ts'
import type { Cost } from '../prices/cost.ts'
import { usdOf } from '../prices/money.ts'

/** The record of one chat request. It contains neither content nor keys. */
export interface RequestRecord {
  /** Unix milliseconds of its arrival. */
  readonly time: number
  /** `x-request-id`. */
  readonly id: string
  /** The format of the request, such as `chat` or `embeddings`. */
  readonly api: string
  /** The model asked for: at most 128 characters, no control characters; empty when it could not be read. */
  readonly model: string
  /** The model's name as spelled in the configuration or a model list; absent when neither contains it. */
  readonly listedAs?: string | undefined
  readonly stream: boolean
  /** HTTP status sent to the caller; 499 when the caller left. */
  readonly status: number
  /** `error.code` of the answer or of the error event that ended a stream; absent on success. */
  readonly error?: string | undefined
  /** Id of the provider that answered; absent when none did. */
  readonly provider?: string | undefined
  /** The provider's name for the model. */
  readonly upstream?: string | undefined
  readonly trail: readonly RecordedAttempt[]
  /** Milliseconds to the first meaningful event; absent without a stream or event. */
  readonly firstTokenMs?: number | undefined
  readonly totalMs: number
  readonly usage?: Usage | undefined
  /** Cost of the answer; absent when the price or the usage is not known. An estimate if the usage is one. */
  readonly cost?: Cost | undefined
  /**
   * What limits of money booked for an attempt that the caller left before its answer, or whose provider counted
   * nothing: its provider and the estimate in nano-USD.
   */
  readonly unrecorded?: readonly { readonly provider: string; readonly nanoUsd: number }[] | undefined
  /** Limits of access.json that it waited for, was refused by, or that passed a provider over. Absent: none. */
  readonly limits?: readonly RecordedLimit[] | undefined
  /** How long it waited for a slot of a limit. Absent: it did not. */
  readonly waitedMs?: number | undefined
  /** The signed-in user, or `key:NAME` for a program. */
  readonly user?: string | undefined
  /** Whose use it is: the signed-in person, or the person that an own key belongs to. Other keys act as no person. */
  readonly person?: Person | undefined
  /** Id of the first key of the line, when a program sent a key. */
  readonly line?: number | undefined
  /** Name of the team that the key of a program belongs to. */
  readonly team?: string | undefined
}

/** A limit that a request met. Has the shape of `MetLimit` in limits/met-limit.ts. */
export interface RecordedLimit {
  readonly met: 'refused' | 'waited' | 'passed_over'
  /** As in access.json, but without names of people. */
  readonly for: string
  readonly kind: 'requests' | 'tokens' | 'at_once' | 'usd'
  /** Nano-USD of `usd`. Absent: the budget is shared with others. */
  readonly limit?: number
  readonly per?: string
  readonly models?: readonly string[]
}

/** The amount of a limit as it is shown: of money in USD. */
export function shownAmount({ kind, limit }: Pick<RecordedLimit, 'kind' | 'limit'>): number | undefined {
  return kind === 'usd' && limit !== undefined ? usdOf(limit) : limit
}

/** Estimated costs of attempts under way, or whose request is not recorded yet, of one caller, model and provider. */
export interface HeldCost {
  /** Id of the first key of the line; 0: no key. */
  readonly line: number
  /** As in {@link RequestRecord}. */
  readonly person?: Person | undefined
  /** Name of the team that the key belongs to. */
  readonly team?: string | undefined
  /** As `listedAs` of {@link RequestRecord}, else `upstream`. */
  readonly model: string
  readonly provider: string
  /** Number of the attempts. */
  readonly attempts: number
  readonly nanoUsd: number
}

/** What a process holds, as it was at one moment. */
export interface HeldBy {
  /** Names the process, so that others can see that it has ended. */
  readonly holder: string
  readonly costs: readonly HeldCost[]
}

/** A request under way. */
export interface RunningRequest extends Pick<
  RequestRecord,
  'time' | 'id' | 'api' | 'model' | 'stream' | 'user' | 'line' | 'person'
> {
  readonly firstTokenMs?: number | undefined
  /** The providers that failed so far, and the one that answers, in their order. */
  readonly providers: readonly string[]
}

/** The requests under way. */
export interface RunningRequests {
  readonly count: number
  /** At most 200, the oldest first. */
  readonly requests: readonly RunningRequest[]
}

/** Requests under way that are described. */
export const runningMax = 200

/** One attempt, for log and metrics. Has the shape of `Attempt` in service/trail.ts. */
export interface RecordedAttempt {
  readonly name: string
  readonly status?: number | undefined
  readonly failure?: string | undefined
  /** Short, without secrets. */
  readonly reason?: string | undefined
  /** The upstream may have processed and billed the request although no answer arrived. */
  readonly ambiguous?: boolean | undefined
  /** Usage reported by the upstream, when its response did not become the answer. */
  readonly tokens?: Pick<Usage, 'promptTokens' | 'completionTokens'> | undefined
  /** What limits of money booked for an attempt without an answer that may have been billed, in nano-USD. */
  readonly bookedNanoUsd?: number | undefined
  /** Most tokens of the answer, to which a hard limit of money lowered the request. */
  readonly answerTokensMax?: number | undefined
  /** Names of the traits that refusals have taught: the request was sent once more for each. */
  readonly adapted?: readonly string[] | undefined
  /** Names of what the provider was not sent. */
  readonly dropped?: readonly string[] | undefined
  /** Names of what the provider was sent in another form. */
  readonly adjusted?: readonly string[] | undefined
  /** The stream was ended at what a hard limit of money had left. */
  readonly isEndedAtLimit?: boolean | undefined
  /** Cost of these tokens at the attempt's provider; absent when it is not known. */
  readonly cost?: Cost | undefined
  readonly ms: number
}

/** Whether the provider was asked: limits of money pass providers over, which takes no time. */
export function wasSent({ failure }: Pick<RecordedAttempt, 'failure'>): boolean {
  return failure !== 'budget' && failure !== 'no_price'
}
