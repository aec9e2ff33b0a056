import { WireError } from '../formats/error.ts'
import { errorResponse } from './error-response.ts'
import type { HandlerContext } from './handler-context.ts'
import { checkOwner, type OwnerCheck } from './page/owner-check.ts'
import type { Route } from './route.ts'

/** Sources of {@link statusRoutes}, read at every request. */
export interface Status {
  /** Why chat requests should not be sent here now; `undefined`: ready. */
  readonly unready: () => string | undefined
  /** Prometheus text. */
  readonly metrics: () => Promise<string>
  /** Decides who may read the metrics. */
  readonly isOwner: OwnerCheck
  /** Answers `/`. */
  readonly page: (context: HandlerContext) => Promise<Response>
}

/** `/health`, `/ready` and `/metrics` (docs/api.md), and the page at `/`. */
export function statusRoutes({ unready, metrics, isOwner, page }: Status): readonly Route[] {
  return [
    { method: 'GET', path: '/health', isPublic: true, handle: ({ id }) => text('ok\n', id) },
    { method: 'GET', path: '/ready', isPublic: true, handle: (context) => ready(context, unready()) },
    metricsRoute({ metrics, isOwner }),
    {
      method: 'GET',
      path: '/',
      isPublic: true,
      handle: (context) => (wantsText(context.request) ? aboutText(context) : page(context)),
    },
  ]
}

/** `/metrics`. */
export function metricsRoute({ metrics, isOwner }: Pick<Status, 'metrics' | 'isOwner'>): Route {
  return {
    method: 'GET',
    path: '/metrics',
    isPublic: false,
    scope: 'metrics:read',
    async handle(context) {
      checkOwner(isOwner, context)
      return text(await metrics(), context.id, 'text/plain; version=0.0.4; charset=utf-8')
    },
  }
}

/** Whether `Accept` names JSON or plain text, and neither HTML nor any type. Other clients get the page. */
function wantsText({ headers }: Request): boolean {
  const accept = headers.get('accept')
  if (accept === null) return false
  const types = accept
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';', 1)[0]?.trim())
  return (
    (types.includes('application/json') || types.includes('text/plain')) &&
    !types.includes('text/html') &&
    !types.includes('*/*')
  )
}

function aboutText({ id }: HandlerContext): Response {
  const response = text('svc is running. Its API is at /v1, its health at /health.\n', id)
  response.headers.set('vary', 'accept')
  return response
}

function ready({ id }: HandlerContext, reason: string | undefined): Response {
  if (reason === undefined) return text('ready\n', id)
  return errorResponse(
    new WireError(503, 'overloaded_error', 'not_ready', `Not ready: ${reason}`, { headers: { 'retry-after': '1' } }),
    id,
  )
}

function text(body: string, id: string, type = 'text/plain; charset=utf-8'): Response {
  return new Response(body, {
    headers: {
      'content-type': type,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-request-id': id,
    },
  })
}
