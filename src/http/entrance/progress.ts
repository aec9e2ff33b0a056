import { WireError } from '../../formats/error.ts'
import type { Format } from '../../formats/format.ts'
import type { Usage } from '../../formats/usage.ts'
import type { ServedReply } from '../../gateway/gateway.ts'
import type { RequestRecord } from '../../observe/record.ts'
import { DeadlineExceeded } from '../../service/deadline-exceeded.ts'
import type { Trail } from '../../service/trail.ts'
import type { Exchange } from '../exchange.ts'
import { ClientLeft } from './read-body.ts'

const modelLengthMax = 128

/** How a chat request ended. */
export interface Outcome {
  readonly status: number
  readonly error?: string
  readonly usage?: Usage | undefined
  /** A mistake of ours, for the log. */
  readonly cause?: unknown
}

/** One chat request: what is known of it while it is under way. */
export interface Progress {
  readonly exchange: Exchange
  readonly format: Format
  readonly trail: Trail
  readonly time: number
  /**
   * Empty until it has been read. Of the request no more is kept than this and the next: its bytes may go before its
   * answer ends.
   */
  model: string
  stream: boolean
  /** Estimated, for a stream that ends before its provider counts it. */
  promptTokens: number
  served: ServedReply | undefined
  firstTokenMs: number | undefined
}

/** Nothing is known of it yet. */
export function begin(exchange: Exchange, format: Format): Progress {
  return {
    exchange,
    format,
    trail: [],
    time: Date.now(),
    model: '',
    stream: false,
    promptTokens: 0,
    served: undefined,
    firstTokenMs: undefined,
  }
}

/** What the client is told of whatever went wrong; a mistake of ours is told as nothing but that. */
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

/** What the record says of an error; what caused it only where it is a mistake of ours. */
export function outcomeOfError(told: WireError | undefined, cause: unknown): Pick<Outcome, 'error' | 'cause'> {
  if (told === undefined) return {}
  return told.status === 500 ? { error: told.code, cause } : { error: told.code }
}

/**
 * The record of a request that has ended.
 *
 * @param listedAs see {@link RequestRecord}
 */
export function recordOf(
  { exchange, format, trail, time, model, stream, served, firstTokenMs }: Progress,
  listedAs: string | undefined,
  { status, error, usage, cause }: Outcome,
): RequestRecord {
  return {
    time,
    id: exchange.id,
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
    totalMs: performance.now() - exchange.started,
    user: exchange.user,
    usage,
    price: served?.price,
    cause,
  }
}
