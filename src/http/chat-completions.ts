import { overloaded } from '../gateway/all-failed.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { RequestRecord } from '../observe/record.ts'
import { callController } from '../service/call-controller.ts'
import { TimeUp } from '../service/time-up.ts'
import { withinMs } from '../service/within.ts'
import { parseChatRequest, parseLargeChatRequest } from '../wire/chat-request.ts'
import type { WireError } from '../wire/error.ts'
import { refusalOf, type AdmissionOptions } from './admission.ts'
import type { BodyBudget } from './body-budget.ts'
import { streamResponse, wholeResponse, type DeliveryOptions } from './chat-delivery.ts'
import { attemptHeaders, begin, describe, failureOf, recordOf, type Outcome } from './chat-progress.ts'
import { errorResponse, type Exchange } from './exchange.ts'
import { nextTurn } from './next-turn.ts'
import { ClientLeft, readBody, type BodyLimits } from './read-body.ts'
import type { Route } from './route.ts'
import type { UnderWay } from './under-way.ts'

/** Bodies up to this size are checked in one go, larger ones in slices. */
const sliceBytes = 1024 * 1024

/** What {@link chatRoute} needs. */
export interface ChatOptions extends AdmissionOptions, DeliveryOptions {
  /** The gateway in force: a request keeps the one it began with. */
  readonly gateway: () => Gateway
  readonly bodyLimits: () => BodyLimits
  /** Whole request over all attempts, in milliseconds. */
  readonly deadlineMs: () => number
  /** What bodies may hold, over all requests; beyond, 503. */
  readonly bodyBudget: BodyBudget
  readonly underWay: UnderWay
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
  const forget = options.underWay.begin(
    () => controller.abort(overloaded('The service is stopping')),
    exchange.peerPort,
  )
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
      share.release()
      // The time was for the answer; its reader has one of its own.
      clearTimeout(timer)
      return wholeResponse(served.reply, { served, progress, controller, settle, options })
    }
    return streamResponse({ served, answering, progress, controller, settle, options })
  } catch (error) {
    const told = describe(error, progress)
    settle({ status: told.status, ...failureOf(told, error) })
    return errorResponse(told, exchange.id, attemptHeaders(progress))
  }
}

/** `x-svc-timeout-ms` may only lower the time for the whole request; nonsense is ignored. */
function requestedTimeoutMs(request: Request): number {
  const given = request.headers.get('x-svc-timeout-ms')
  return given !== null && /^[1-9]\d{0,8}$/.test(given) ? Number(given) : Number.POSITIVE_INFINITY
}
