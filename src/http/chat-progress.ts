import type { ServedReply } from '../gateway/gateway.ts'
import type { RequestRecord } from '../observe/record.ts'
import { TimeUp } from '../service/time-up.ts'
import { formatTrail, type Trail } from '../service/trail.ts'
import { WireError } from '../wire/error.ts'
import type { Usage } from '../wire/usage.ts'
import type { Exchange } from './exchange.ts'
import { ClientLeft } from './read-body.ts'

const modelLengthMost = 128

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
  readonly trail: Trail
  readonly time: number
  /**
   * Empty until it has been read. Of the request no more is kept than this and the next: its bytes may go before its
   * answer ends.
   */
  model: string
  stream: boolean
  served: ServedReply | undefined
  firstTokenMs: number | undefined
}

/** Nothing is known of it yet. */
export function begin(exchange: Exchange): Progress {
  return { exchange, trail: [], time: Date.now(), model: '', stream: false, served: undefined, firstTokenMs: undefined }
}

/** What the client is told of whatever went wrong; a mistake of ours is told as nothing but that. */
export function describe(error: unknown, { model, trail }: Progress): WireError {
  if (error instanceof WireError) return error
  if (error instanceof ClientLeft) return new WireError(499, 'invalid_request_error', 'client_left', 'The client left')
  if (error instanceof TimeUp) {
    const tried = trail.map(({ name, reason }) => `${name}: ${reason ?? 'no answer in time'}`).join('; ')
    return new WireError(
      504,
      'api_error',
      'provider_error',
      `All providers failed for model '${model}': ${tried === '' ? 'no answer in time' : tried}`,
      {
        headers: { 'x-should-retry': 'true' },
        cause: error,
      },
    )
  }
  return new WireError(
    500,
    'api_error',
    'internal_error',
    'The service made a mistake; its log tells more under this request id',
    { cause: error },
  )
}

/** What the record says of an error; what caused it only where it is a mistake of ours. */
export function failureOf(told: WireError | undefined, cause: unknown): Pick<Outcome, 'error' | 'cause'> {
  if (told === undefined) return {}
  return told.status === 500 ? { error: told.code, cause } : { error: told.code }
}

/** Headers of an answer. @param served absent: it is not known yet who answers */
export function replyHeaders(
  progress: Progress,
  contentType: string,
  served: ServedReply | undefined,
): Record<string, string> {
  const { exchange, trail } = progress
  if (served === undefined)
    return { 'content-type': contentType, 'x-request-id': exchange.id, ...attemptHeaders(progress) }
  // One literal: an object that grows member by member costs a multiple of it.
  return {
    'content-type': contentType,
    'x-request-id': exchange.id,
    'x-svc-provider': served.provider,
    'x-svc-model': headerText(served.model),
    'x-svc-attempts': String(trail.length),
    'x-svc-trail': formatTrail(trail),
    'server-timing': ownTime(progress),
  }
}

/** What is told of the attempts whatever came of them. */
export function attemptHeaders(progress: Progress): Record<string, string> {
  const { trail } = progress
  return {
    'x-svc-attempts': String(trail.length),
    'server-timing': ownTime(progress),
    ...(trail.length === 0 ? {} : { 'x-svc-trail': formatTrail(trail) }),
  }
}

/** `gw;dur=0.4`: milliseconds this service took itself, upstreams apart. */
function ownTime({ exchange, trail }: Progress): string {
  let upstreamMs = 0
  for (const { ms } of trail) upstreamMs += ms
  return `gw;dur=${Math.max(0, performance.now() - exchange.started - upstreamMs).toFixed(2)}`
}

const visibleAscii = /^[\x20-\x7e]*$/

/** A header's value is visible ASCII; anything else in a model's name becomes `?`. */
function headerText(text: string): string {
  return visibleAscii.test(text) ? text : text.replace(/[^\x20-\x7e]/g, '?')
}

/** What is remembered of a request that has ended. */
export function recordOf(
  { exchange, trail, time, model, stream, served, firstTokenMs }: Progress,
  { status, error, usage, cause }: Outcome,
): RequestRecord {
  return {
    time,
    id: exchange.id,
    model: model.slice(0, modelLengthMost).toWellFormed(),
    stream,
    status,
    error,
    provider: served?.provider,
    trail,
    firstTokenMs,
    totalMs: performance.now() - exchange.started,
    user: exchange.user,
    usage,
    price: served?.price,
    cause,
  }
}
