import type { Contribution } from '../extensions/extension.ts'
import { WireError } from '../wire/error.ts'
import { preflight, withCors, type AllowedOrigins } from './cors.ts'
import { errorResponse, requestId, type Exchange } from './exchange.ts'
import { requestPath } from './request-target.ts'
import { router, type Route } from './route.ts'

/** Seconds a connection may be idle between requests. */
const idleSeconds = 75

/** What {@link startServer} needs. */
export interface ServerOptions {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  readonly routes: readonly Route[]
  readonly guards: readonly NonNullable<Contribution['guard']>[]
  readonly allowedOrigins: AllowedOrigins
  /** Whether connections are to be closed after their answer. */
  readonly isClosing: () => boolean
  /** Told of a mistake of ours outside a chat request. */
  readonly onMistake: (error: unknown, id: string) => void
}

/** A server that listens. */
export interface Server {
  readonly port: number
  /** Stops listening and lets the responses under way finish; `now`: drops them. */
  stop(now: boolean): Promise<void>
}

/** Listens, and sends each request through the guards to its route. @throws when the address cannot be had */
export function startServer({ host, port, routes, guards, allowedOrigins, isClosing, onMistake }: ServerOptions): Server {
  const routed = router(routes)

  async function guarded(route: Route, exchange: Exchange): Promise<Response> {
    for (const guard of guards) {
      const refusal = await guard(exchange.request)
      if (refusal !== undefined) return refusal
    }
    return route.handle(exchange)
  }

  function answer(request: Request, id: string, keepOpen: () => void): Response | Promise<Response> {
    const started = performance.now()
    const path = requestPath(request)
    const methods = request.method === 'OPTIONS' ? routed.methods(path) : []
    if (methods.length > 0) return preflight(request, methods.join(', '), allowedOrigins)
    const route = routed.find(request.method, path)
    const exchange = { request, path, id, started, keepOpen }
    return route.isPublic || guards.length === 0 ? route.handle(exchange) : guarded(route, exchange)
  }

  function refusal(error: unknown, id: string): Response {
    if (error instanceof WireError) return errorResponse(error, id)
    onMistake(error, id)
    return errorResponse(new WireError(500, 'api_error', 'internal_error', 'The service made a mistake; its log tells more under this request id'), id)
  }

  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: idleSeconds,
    // Larger bodies are refused by the route, in the API's own error shape.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Without it, and with `development` off, a second process would silently take half of the connections.
    reusePort: false,
    async fetch(request, server) {
      const id = requestId(request)
      let response: Response
      try {
        response = await answer(request, id, () => server.timeout(request, 0))
      } catch (error) {
        response = refusal(error, id)
      }
      if (isClosing()) response.headers.set('connection', 'close')
      return withCors(request, response, allowedOrigins)
    },
    error: () => errorResponse(new WireError(500, 'api_error', 'internal_error', 'The service made a mistake'), crypto.randomUUID()),
  })

  return {
    port: server.port ?? port,
    stop: (now) => server.stop(now),
  }
}
