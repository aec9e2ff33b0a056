import { overloaded } from '../gateway/all-failed.ts'
import type { Gateway, ServedReply } from '../gateway/gateway.ts'
import type { RequestRecord } from '../observe/record.ts'
import type { StreamReply } from '../protocols/protocol.ts'
import { callController, type CallController } from '../service/call-controller.ts'
import { TimeUp } from '../service/time-up.ts'
import { formatTrail, type Trail } from '../service/trail.ts'
import { withinMs } from '../service/within.ts'
import { parseChatRequest, parseLargeChatRequest } from '../wire/chat-request.ts'
import { WireError } from '../wire/error.ts'
import type { Usage } from '../wire/usage.ts'
import { refusalOf, type AdmissionOptions } from './admission.ts'
import type { BodyBudget } from './body-budget.ts'
import { eventStreamBody } from './event-stream-body.ts'
import { errorResponse, type Exchange } from './exchange.ts'
import { nextTurn } from './next-turn.ts'
import { ClientLeft, readBody, type BodyLimits } from './read-body.ts'
import type { Route } from './route.ts'
import type { UnderWay } from './under-way.ts'

/** Bodies up to this size are checked in one go, larger ones in slices. */
const sliceBytes = 1024 * 1024
const modelLengthMost = 128

/** The times of a chat request, in milliseconds. */
export interface ChatTimers {
  /** Until the first keep-alive comment, and between them. */
  readonly heartbeatMs: number
  /** A client may take so long to read what is there. */
  readonly stallMs: number
}

/** What {@link chatRoute} needs. */
export interface ChatOptions extends AdmissionOptions {
  /** The gateway in force: a request keeps the one it began with. */
  readonly gateway: () => Gateway
  readonly bodyLimits: () => BodyLimits
  /** Whole request over all attempts, in milliseconds. */
  readonly deadlineMs: () => number
  /** What bodies may hold, over all requests; beyond, 503. */
  readonly bodyBudget: BodyBudget
  readonly timers: ChatTimers
  readonly underWay: UnderWay
  readonly streamsOpen: { add(difference: number): void }
  readonly record: (record: RequestRecord) => void
}

/** `POST /v1/chat/completions` (docs/api.md). */
export function chatRoute(options: ChatOptions): Route {
  return { method: 'POST', path: '/v1/chat/completions', isPublic: false, handle }

  function handle(exchange: Exchange): Response | Promise<Response> {
    const refusal = refusalOf(exchange.request, options)
    return refusal === undefined ? answer(exchange, options) : refuse(exchange, refusal, options)
  }
}

/** How a chat request ended. */
interface Outcome {
  readonly status: number
  readonly error?: string
  readonly usage?: Usage | undefined
  /** A mistake of ours, for the log. */
  readonly cause?: unknown
}

/** One chat request: what is known of it while it is under way. */
interface Progress {
  readonly exchange: Exchange
  readonly trail: Trail
  readonly time: number
  /** Empty until it has been read. Of the request no more is kept than this and the next: its bytes may go before its answer ends. */
  model: string
  stream: boolean
  served: ServedReply | undefined
  firstTokenMs: number | undefined
}

function begin(exchange: Exchange): Progress {
  return { exchange, trail: [], time: Date.now(), model: '', stream: false, served: undefined, firstTokenMs: undefined }
}

/** Turns a request away: at once, for little, and not without a record. */
function refuse(exchange: Exchange, refusal: WireError, { record }: ChatOptions): Response {
  const progress = begin(exchange)
  record(recordOf(progress, { status: refusal.status, error: refusal.code }))
  return errorResponse(refusal, exchange.id, attemptHeaders(progress))
}

async function answer(exchange: Exchange, options: ChatOptions): Promise<Response> {
  const { request, started } = exchange
  const progress = begin(exchange)
  const controller = callController()
  const leave = () => controller.abort(new ClientLeft('the client left'))
  const forget = options.underWay.begin(() => controller.abort(overloaded('The service is stopping')), exchange.peerPort)
  const share = options.bodyBudget.share()
  let timer: Timer | undefined

  function settle(outcome: Outcome): void {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', leave)
    forget()
    share.release()
    exchange.letClose()
    options.record(recordOf(progress, outcome))
  }

  try {
    request.signal.addEventListener('abort', leave, { once: true })
    exchange.keepOpen()
    const body = await readBody(request, options.bodyLimits(), share)
    const chat = body.length > sliceBytes ? await parseLargeChatRequest(body, nextTurn) : parseChatRequest(body)
    progress.model = chat.model
    progress.stream = chat.stream
    const ms = Math.min(options.deadlineMs(), requestedTimeoutMs(request)) - (performance.now() - started)
    timer = setTimeout(() => controller.abort(new TimeUp('the whole request took too long')), Math.max(1, ms))
    if (request.signal.aborted) leave()
    const answering = options.gateway().chat(chat, { signal: controller.signal, trail: progress.trail }, share.release)
    const served = chat.stream ? await withinMs(answering, options.timers.heartbeatMs) : await answering
    if (served?.reply.kind === 'whole') {
      progress.served = served
      settle({ status: 200, usage: served.reply.usage })
      // It may take its reader longer than a connection may be idle.
      if (served.reply.body.length > sliceBytes) exchange.letRead()
      return new Response(served.reply.body, { headers: replyHeaders(progress, 'application/json', served) })
    }
    return streamResponse({ served, answering, progress, controller, settle, options })
  } catch (error) {
    const told = describe(error, progress)
    settle({ status: told.status, ...failureOf(told, error) })
    return errorResponse(told, exchange.id, attemptHeaders(progress))
  }
}

interface Streaming {
  /** Absent: not decided yet, but the client has waited long enough for its headers. */
  readonly served: ServedReply | undefined
  readonly answering: Promise<ServedReply>
  readonly progress: Progress
  readonly controller: CallController
  readonly settle: (outcome: Outcome) => void
  readonly options: ChatOptions
}

function streamResponse({ served, answering, progress, controller, settle, options }: Streaming): Response {
  let reply: StreamReply | undefined
  const take = (answer: ServedReply): StreamReply => {
    const { reply: decided } = answer
    progress.served = answer
    if (decided.kind !== 'stream') throw new Error('a whole reply to a stream request')
    progress.firstTokenMs = performance.now() - progress.exchange.started
    reply = decided
    return decided
  }
  const { body, fail, leave } = eventStreamBody({
    reply: served === undefined ? answering.then(take) : take(served),
    heartbeatMs: options.timers.heartbeatMs,
    stallMs: options.timers.stallMs,
    describe: (error) => describe(error, progress),
    abort() {
      controller.abort(new ClientLeft('the client left'))
      reply?.cancel()
    },
    onEnd({ error, cause, hasClientLeft, usage }) {
      options.streamsOpen.add(-1)
      settle(hasClientLeft ? { status: 499, error: 'client_left', usage } : { status: 200, usage, ...failureOf(error, cause) })
      if (hasClientLeft) progress.exchange.drop()
    },
  })
  options.streamsOpen.add(1)
  controller.signal.addEventListener('abort', () => {
    const reason: unknown = controller.signal.reason
    if (reason instanceof ClientLeft) leave()
    else fail(reason)
  }, { once: true })
  return new Response(body, {
    headers: {
      ...replyHeaders(progress, 'text/event-stream; charset=utf-8', served),
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
  })
}

/** What the client is told of whatever went wrong; a mistake of ours is told as nothing but that. */
function describe(error: unknown, { model, trail }: Progress): WireError {
  if (error instanceof WireError) return error
  if (error instanceof ClientLeft) return new WireError(499, 'invalid_request_error', 'client_left', 'The client left')
  if (error instanceof TimeUp) {
    const tried = trail.map(({ name, reason }) => `${name}: ${reason ?? 'no answer in time'}`).join('; ')
    return new WireError(504, 'api_error', 'provider_error', `All providers failed for model '${model}': ${tried === '' ? 'no answer in time' : tried}`, {
      headers: { 'x-should-retry': 'true' }, cause: error,
    })
  }
  return new WireError(500, 'api_error', 'internal_error', 'The service made a mistake; its log tells more under this request id', { cause: error })
}

/** What the record says of an error; what caused it only where it is a mistake of ours. */
function failureOf(told: WireError | undefined, cause: unknown): Pick<Outcome, 'error' | 'cause'> {
  if (told === undefined) return {}
  return told.status === 500 ? { error: told.code, cause } : { error: told.code }
}

function replyHeaders(progress: Progress, contentType: string, served: ServedReply | undefined): Record<string, string> {
  const { exchange, trail } = progress
  if (served === undefined) return { 'content-type': contentType, 'x-request-id': exchange.id, ...attemptHeaders(progress) }
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

function attemptHeaders(progress: Progress): Record<string, string> {
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

/** `x-svc-timeout-ms` may only lower the time for the whole request; nonsense is ignored. */
function requestedTimeoutMs(request: Request): number {
  const given = request.headers.get('x-svc-timeout-ms')
  return given !== null && /^[1-9]\d{0,8}$/.test(given) ? Number(given) : Number.POSITIVE_INFINITY
}

function recordOf({ exchange, trail, time, model, stream, served, firstTokenMs }: Progress, { status, error, usage, cause }: Outcome): RequestRecord {
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
