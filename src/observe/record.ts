import type { Usage } from '../wire/usage.ts'
import type { Price } from './cost.ts'

/** What is remembered of one chat request: never content, never a key. */
export interface RequestRecord {
  /** Unix milliseconds of its arrival. */
  readonly time: number
  /** `x-request-id`. */
  readonly id: string
  /**
   * As the caller asked for it, at most 128 characters, none of them a control character; empty when it could not be
   * read.
   */
  readonly model: string
  readonly stream: boolean
  /** HTTP status the caller saw; 499 when the caller left. */
  readonly status: number
  /** `error.code` of the answer or of the error event that ended a stream; absent when all went well. */
  readonly error?: string | undefined
  /** Who served it; absent when nobody did. */
  readonly provider?: string | undefined
  readonly trail: readonly RecordedAttempt[]
  /** Milliseconds to the first meaningful event; absent when not streaming or none came. */
  readonly firstTokenMs?: number | undefined
  readonly totalMs: number
  readonly usage?: Usage | undefined
  /** Of who served it, where it is known. */
  readonly price?: Price | undefined
  /** What a mistake of ours threw; for the log only. */
  readonly cause?: unknown
  /** The signed-in user, when there is one. */
  readonly user?: string | undefined
}

/** One attempt, as log and metrics see it. The same shape as `Attempt` of service/trail.ts. */
export interface RecordedAttempt {
  readonly name: string
  readonly status?: number | undefined
  readonly failure?: string | undefined
  /** Short, without secrets. */
  readonly reason?: string | undefined
  /** The upstream may have done the work, and billed it, although no answer was seen. */
  readonly ambiguous?: boolean | undefined
  /** What the upstream said its work came to, where it did not become the answer. */
  readonly tokens?: Pick<Usage, 'promptTokens' | 'completionTokens'> | undefined
  readonly ms: number
}
