import type { Gateway } from '../../gateway/gateway.ts'
import type { Limiter } from '../../limits/limiter.ts'
import type { RequestRecord } from '../../observe/record.ts'
import type { Tracer } from '../../observe/trace.ts'
import type { LearnedSizes } from '../../prices/token-sizes.ts'
import type { AnswerBudget } from '../../service/answer-budget.ts'
import type { AdmissionOptions, OpenRequests } from './admission.ts'
import type { BodyBudget } from './body-budget.ts'
import type { BodyLimits } from './read-body.ts'
import type { ContentIntake } from './taking-content.ts'

/** Times of a request, in milliseconds. */
export interface AnswerTimers {
  /** Before the first keep-alive of a waiting stream, and between two. Undefined: each format has its own. */
  readonly heartbeatMs: number | undefined
  /** Limit for a client to read available bytes. */
  readonly stallMs: number
}

/** Everything that API requests share. */
export interface EntranceOptions extends AdmissionOptions {
  /** The active gateway. A request keeps the gateway it began with. */
  readonly gateway: () => Gateway
  readonly bodyLimits: () => BodyLimits
  /** Limit of a request over all attempts, in milliseconds. */
  readonly deadlineMs: () => number
  /** Memory budget of bodies, over all requests; 503 above it. */
  readonly bodyBudget: BodyBudget
  /** Memory budget of large answers until they are read, shared with answers being buffered; 503 above it. */
  readonly answerBudget: AnswerBudget
  readonly openRequests: OpenRequests
  /** The limits of callers. `undefined`: no limits. */
  readonly limiter?: () => Limiter | undefined
  /** Takes content of requests. Absent or `undefined`: none is kept. */
  readonly content?: () => ContentIntake | undefined
  /** Traces requests. Absent or `undefined`: they are not traced. */
  readonly tracer?: () => Tracer | undefined
  /** The flag of a caller's trace is followed although its caller is not known. Default: false. */
  readonly trustsAll?: boolean
  /** Learned from counted answers, for estimates of others. */
  readonly tokenSizes: LearnedSizes
  readonly streamsOpen: { add(difference: number): void }
  readonly timers: AnswerTimers
  /** Records an ended request. `cause`: the cause of an internal error, for the log. */
  readonly record: (record: RequestRecord, cause?: unknown) => void
}
