import { nextTurn } from '../../base/next-turn.ts'
import type { WireError } from '../../formats/error.ts'
import { formats } from '../../formats/format-list.ts'
import type { Envelope, Format, Refusal } from '../../formats/format.ts'
import { overloaded } from '../../gateway/all-failed.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import type { RequestRecord } from '../../observe/record.ts'
import { callController } from '../../service/call-controller.ts'
import { DeadlineExceeded } from '../../service/deadline-exceeded.ts'
import { withinMs } from '../../service/within.ts'
import { errorResponse, statusOf } from '../error-response.ts'
import type { HandlerContext } from '../handler-context.ts'
import { methodNotAllowed, type Route } from '../route.ts'
import { refusalOf, type AdmissionOptions } from './admission.ts'
import type { BodyBudget } from './body-budget.ts'
import { streamResponse, wholeResponse, type DeliveryOptions } from './delivery.ts'
import type { OpenRequests } from './open-requests.ts'
import { begin, describe, noteAsk, outcomeOfError, recordOf, type Outcome } from './progress.ts'
import { ClientLeft, readBody, type BodyLimits } from './read-body.ts'
import { attemptHeaders, streamHeaders } from './reply-headers.ts'

/** Bodies up to this size are checked in one go, larger ones in slices. */
const sliceBytes = 1024 * 1024

/** Options of {@link apiRoute}. */
export interface EntranceOptions extends AdmissionOptions, DeliveryOptions {
  /** The active gateway. A request keeps the gateway it began with. */
  readonly gateway: () => Gateway
  readonly bodyLimits: () => BodyLimits
  /** Limit of a request over all attempts, in milliseconds. */
  readonly deadlineMs: () => number
  /** Memory budget of bodies, over all requests; 503 above it. */
  readonly bodyBudget: BodyBudget
  readonly openRequests: OpenRequests
  /** Records an ended request. `cause`: the cause of an internal error, for the log. */
  readonly record: (record: RequestRecord, cause?: unknown) => void
}

/** The routes of all formats, and of the paths that they refuse. */
export function apiRoutes(options: EntranceOptions): readonly Route[] {
  const all = Object.values(formats)
  const answering = all.flatMap((format) =>
    [format.path, ...(format.otherPaths ?? [])].map((path) => apiRoute(format, options, path)),
  )
  return [...answering, ...all.flatMap((format) => (format.refusals ?? []).flatMap((each) => refusing(format, each)))]
}

/** The route of a format, such as `POST /v1/chat/completions` (docs/api.md). */
export function apiRoute(format: Format, options: EntranceOptions, path = format.path): Route {
  return { method: 'POST', path, isPublic: false, format, handle }

  function handle(context: HandlerContext): Response | Promise<Response> {
    const refusal = refusalOf(context.request, options)
    return refusal === undefined ? answer(context, format, options) : refuse(context, format, refusal, options)
  }
}

function refusing(format: Format, { path, methods, error }: Refusal): readonly Route[] {
  return methods.map((method) => ({
    method,
    path,
    isPublic: false,
    isRefusal: true,
    format,
    handle({ request }) {
      throw error(request.headers) ?? methodNotAllowed(request.method, 'POST, OPTIONS')
    },
  }))
}

/** Refuses a request, and records it. */
function refuse(context: HandlerContext, format: Format, refusal: WireError, { record }: EntranceOptions): Response {
  const progress = begin(context, format)
  record(recordOf(progress, undefined, { status: statusOf(refusal, format), error: refusal.code }))
  return errorResponse(refusal, context.id, { format, headers: attemptHeaders(progress) })
}

async function answer(context: HandlerContext, format: Format, options: EntranceOptions): Promise<Response> {
  const { request, started } = context
  const progress = begin(context, format)
  const controller = callController()
  let gateway: Gateway | undefined
  const leave = () => controller.abort(new ClientLeft('the client left'))
  const forget = options.openRequests.begin(
    () => controller.abort(overloaded('The service is shutting down')),
    context.peerPort,
  )
  const reservation = options.bodyBudget.reservation()
  let timer: Timer | undefined

  function settle(outcome: Outcome): void {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', leave)
    forget()
    reservation.release()
    context.resetIdleLimit()
    options.record(recordOf(progress, gateway?.listedName(progress.model), outcome), outcome.cause)
  }

  try {
    request.signal.addEventListener('abort', leave, { once: true })
    context.keepOpen()
    const body = await readBody(request, limitsOf(format, options.bodyLimits()), reservation)
    const envelope = envelopeOf(context)
    const ask =
      body.length > sliceBytes ? await format.checkLarge(body, nextTurn, envelope) : format.check(body, envelope)
    noteAsk(progress, ask)
    const ms = Math.min(options.deadlineMs(), requestedTimeoutMs(request)) - (performance.now() - started)
    timer = setTimeout(() => controller.abort(new DeadlineExceeded('the whole request took too long')), Math.max(1, ms))
    if (request.signal.aborted) leave()
    gateway = options.gateway()
    const answering = gateway.answer(ask, { signal: controller.signal, trail: progress.trail }, reservation.release)
    const isKeptAlive = ask.stream && format.stream?.keepAlive !== undefined
    const served = isKeptAlive ? await withinMs(answering, options.timers.heartbeatMs) : await answering
    if (served?.reply.kind === 'whole') {
      reservation.release()
      // The deadline ends with the answer. Reading it has its own limit.
      clearTimeout(timer)
      return wholeResponse(served.reply, { served, progress, controller, settle, options })
    }
    return streamResponse({ served, answering, progress, controller, settle, options })
  } catch (error) {
    const described = describe(error, progress)
    const sent = progress.stream ? (format.stream?.refusal?.(described) ?? described) : described
    if (sent instanceof Uint8Array) {
      settle({ status: 200, ...outcomeOfError(described, error) })
      return new Response(sent, { headers: streamHeaders(progress, undefined) })
    }
    settle({ status: statusOf(sent, format), ...outcomeOfError(sent, error) })
    return errorResponse(sent, context.id, { format, headers: attemptHeaders(progress) })
  }
}

/** The limits of bodies in a format: the lower number of bytes counts. */
function limitsOf({ path, requestBytesMax }: Format, limits: BodyLimits): BodyLimits {
  if (requestBytesMax === undefined || requestBytesMax >= limits.bytesMax) return limits
  return { ...limits, bytesMax: requestBytesMax, setting: `the limit of ${path}` }
}

function envelopeOf({ path, request }: HandlerContext): Envelope {
  return {
    path,
    headers: request.headers,
    parameter: (name) => new URL(request.url).searchParams.get(name),
  }
}

/** `x-svc-timeout-ms` can only lower the deadline; invalid values are ignored. */
function requestedTimeoutMs(request: Request): number {
  const given = request.headers.get('x-svc-timeout-ms')
  return given !== null && /^[1-9]\d{0,8}$/.test(given) ? Number(given) : Number.POSITIVE_INFINITY
}
