import { nextTurn } from '../../base/next-turn.ts'
import { unslicedBytesMax } from '../../bytes/pace.ts'
import type { WireError } from '../../formats/error.ts'
import { formats } from '../../formats/format-list.ts'
import type { Format, Refusal } from '../../formats/format.ts'
import { CannotCount } from '../../gateway/all-failed.ts'
import type { LimitAdmission } from '../../limits/admission.ts'
import type { Limiter } from '../../limits/limiter.ts'
import { sharedTimers, type SharedTimers } from '../../service/shared-timers.ts'
import { withinMs } from '../../service/within.ts'
import { errorResponse, statusOf } from '../error-response.ts'
import type { HandlerContext } from '../handler-context.ts'
import { methodNotAllowed, openPath, type Route } from '../route.ts'
import { refusalOf } from './admission.ts'
import { ApiRequest } from './api-request.ts'
import { streamResponse, wholeResponse } from './delivery.ts'
import type { EntranceOptions } from './entrance-options.ts'
import { limitReached } from './limit-answers.ts'
import { describe, outcomeOfError } from './progress.ts'
import { readBody, type BodyLimits } from './read-body.ts'
import { attemptHeaders, replyHeaders } from './reply-headers.ts'

/** The exact paths of all formats. */
export const apiPaths: readonly string[] = Object.values(formats)
  .map(({ path }) => path)
  .filter((path) => openPath(path) === undefined)

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
  const timers = sharedTimers()
  const headers = replyHeaders()
  return { method: 'POST', path, isPublic: false, scope: 'chat', format, handle }

  function handle(context: HandlerContext): Response | Promise<Response> {
    const refusal = refusalOf(context.request, options)
    const request = new ApiRequest(context, format, options, headers)
    if (refusal !== undefined) return refuse(request, refusal)
    const limiter = options.limiter?.()
    return limiter === undefined ? answer(request, timers) : answerWithin(limiter, request, timers)
  }
}

/** Answers a request if the limits of its caller allow it. */
function answerWithin(limiter: Limiter, request: ApiRequest, timers: SharedTimers): Response | Promise<Response> {
  const admitting = limiter.admit(request.caller, request.left)
  return admitting instanceof Promise
    ? admitting.then(
        (admission) => answerAdmitted(admission, request, timers),
        (error: unknown) => refuse(request, describe(error, request), error),
      )
    : answerAdmitted(admitting, request, timers)
}

function answerAdmitted(
  admission: LimitAdmission | undefined,
  request: ApiRequest,
  timers: SharedTimers,
): Response | Promise<Response> {
  request.admission = admission
  const refused = admission?.refused
  return refused === undefined ? answer(request, timers) : refuse(request, limitReached(refused))
}

function refusing(format: Format, { path, methods, error }: Refusal): readonly Route[] {
  return methods.map((method) => ({
    method,
    path,
    isPublic: false,
    scope: 'chat',
    isRefusal: true,
    format,
    handle({ request }) {
      throw error(request.headers) ?? methodNotAllowed(request.method, 'POST, OPTIONS')
    },
  }))
}

async function answer(request: ApiRequest, timers: SharedTimers): Promise<Response> {
  const { context, format, options } = request
  const reservation = request.begin(timers)
  try {
    const limits = limitsOf(format, options.bodyLimits())
    const body = await readBody(context.request, limits, reservation, timers)
    const ask =
      body.length > unslicedBytesMax ? await format.checkLarge(body, nextTurn, request) : format.check(body, request)
    const counting = request.count(ask)
    if (counting !== undefined) await counting
    const answering = request.ask(ask)
    const keepAlive = ask.stream ? format.stream?.keepAlive : undefined
    const served =
      keepAlive === undefined
        ? await answering
        : await withinMs(answering, options.timers.heartbeatMs ?? keepAlive.everyMs)
    if (served?.reply.kind !== 'whole') return streamResponse(request, { served, answering })
    request.endDeadline()
    return wholeResponse(request, served, served.reply)
  } catch (error) {
    return error instanceof CannotCount ? estimatedCount(request) : failed(request, error)
  }
}

function failed(request: ApiRequest, error: unknown): Response {
  const described = describe(error, request)
  const sent = request.stream ? (request.format.stream?.refusal?.(described) ?? described) : described
  if (!(sent instanceof Uint8Array)) return refuse(request, sent, error)
  request.settle({ status: 200, ...outcomeOfError(described, error) })
  return new Response(sent, { headers: request.replyHeaders.ofEvents(request, undefined) })
}

/** Answers a request to count tokens with the estimate that limits of tokens use. */
function estimatedCount(request: ApiRequest): Response {
  const { context, format } = request
  const body = JSON.stringify(format.estimate?.(request.promptTokens()))
  request.settle({ status: 200 })
  return new Response(body, {
    headers: {
      'content-type': 'application/json',
      'x-request-id': context.id,
      'x-svc-estimated': '1',
      ...attemptHeaders(request),
    },
  })
}

/** Ends a request with an error. */
function refuse(request: ApiRequest, sent: WireError, cause?: unknown): Response {
  const { context, format } = request
  request.settle({ status: statusOf(sent, format), ...outcomeOfError(sent, cause) })
  context.onRefusal?.(sent)
  return errorResponse(sent, context.id, { format, headers: attemptHeaders(request) })
}

/** The limits of bodies in a format: the lower number of bytes counts. */
function limitsOf({ path, requestBytesMax }: Format, limits: BodyLimits): BodyLimits {
  if (requestBytesMax === undefined || requestBytesMax >= limits.bytesMax) return limits
  return { ...limits, bytesMax: requestBytesMax, setting: `the limit of ${path}` }
}
