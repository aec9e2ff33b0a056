import { WireError } from '../wire/error.ts'
import { wantsPage } from './error-page.ts'
import { errorResponse, type Exchange } from './exchange.ts'
import type { Route } from './route.ts'

/** What {@link statusRoutes} reads, each time it is asked. */
export interface Status {
  /** Why no chat request should be sent here now; `undefined`: ready. */
  readonly unready: () => string | undefined
  /** Prometheus text. */
  readonly metrics: () => Promise<string>
  /** What a browser is shown at `/`. */
  readonly page: (exchange: Exchange) => Promise<Response>
}

/** `/health`, `/ready` and `/metrics` (docs/api.md), and a word at `/` for people. */
export function statusRoutes({ unready, metrics, page }: Status): readonly Route[] {
  return [
    { method: 'GET', path: '/health', isPublic: true, handle: ({ id }) => text('ok\n', id) },
    { method: 'GET', path: '/ready', isPublic: true, handle: (exchange) => ready(exchange, unready()) },
    {
      method: 'GET',
      path: '/metrics',
      isPublic: false,
      handle: async ({ id }) => text(await metrics(), id, 'text/plain; version=0.0.4; charset=utf-8'),
    },
    {
      method: 'GET',
      path: '/',
      isPublic: true,
      handle: (exchange) =>
        wantsPage(exchange.request, exchange.path)
          ? page(exchange)
          : text('svc is running. Its API is at /v1, its health at /health.\n', exchange.id),
    },
  ]
}

function ready({ id }: Exchange, reason: string | undefined): Response {
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
      'x-content-type-options': 'nosniff',
      'x-request-id': id,
    },
  })
}
