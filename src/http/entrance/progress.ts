import { WireError } from '../../formats/error.ts'
import type { Format } from '../../formats/format.ts'
import type { Usage } from '../../formats/usage.ts'
import type { ServedReply } from '../../gateway/gateway.ts'
import type { LimitAdmission } from '../../limits/admission.ts'
import type { RequestRecord } from '../../observe/record.ts'
import { DeadlineExceeded } from '../../service/deadline-exceeded.ts'
import type { Trail } from '../../service/trail.ts'
import type { HandlerContext } from '../handler-context.ts'
import { ClientLeft } from './read-body.ts'

const modelLengthMax = 128

/** How a request ended. */
export interface Outcome {
  readonly status: number
  readonly error?: string
  readonly usage?: Usage | undefined
  /** The cause of an internal error, for the log. */
  readonly cause?: unknown
}

/** State of a request that is being answered. */
export interface Progress {
  readonly context: HandlerContext
  readonly format: Format
  readonly trail: Trail
  readonly time: number
  /**
   * Empty until the body was read. Only this and the next two facts are kept of the request, since its bytes may be
   * released before its answer ends.
   */
  model: string
  stream: boolean
  /** Estimated, for a stream that ends before its provider reports usage. Undefined: usage is not estimated. */
  promptTokens: number | undefined
  served: ServedReply | undefined
  firstTokenMs: number | undefined
  /** What the request has taken of limits. Absent: no limit names its caller. */
  readonly admission?: LimitAdmission | undefined
}

/** Maps any error to the client's error. Internal errors become a generic 500. */
export function describe(error: unknown, { model, trail }: Progress): WireError {
  if (error instanceof WireError) return error
  if (error instanceof ClientLeft)
    return new WireError(499, 'invalid_request_error', 'client_left', 'The client closed the connection')
  if (error instanceof DeadlineExceeded) {
    const tried = trail.map(({ name, reason }) => `${name}: ${reason ?? 'no answer'}`).join('; ')
    return new WireError(
      504,
      'api_error',
      'provider_error',
      `All providers failed for model '${model}': ${tried === '' ? 'request deadline exceeded' : tried}`,
      {
        headers: { 'x-should-retry': 'true' },
        cause: error,
      },
    )
  }
  return new WireError(500, 'api_error', 'internal_error', 'Internal error; see the service log for this request id', {
    cause: error,
  })
}

/** Returns the error for the record, with the cause of an internal error only. */
export function outcomeOfError(sent: WireError | undefined, cause: unknown): Pick<Outcome, 'error' | 'cause'> {
  if (sent === undefined) return {}
  return sent.status === 500 ? { error: sent.code, cause } : { error: sent.code }
}

/**
 * Returns the record of an ended request.
 *
 * @param listedAs see {@link RequestRecord}
 */
export function recordOf(
  { context, format, trail, time, model, stream, served, firstTokenMs }: Progress,
  listedAs: string | undefined,
  { status, error, usage }: Outcome,
): RequestRecord {
  return {
    time,
    id: context.id,
    api: format.name,
    model: model.slice(0, modelLengthMax).toWellFormed(),
    listedAs,
    stream,
    status,
    error,
    provider: served?.provider,
    upstream: served?.model,
    trail,
    firstTokenMs,
    totalMs: performance.now() - context.started,
    user: context.user,
    usage,
    cost: served?.costOf?.(usage),
  }
}
