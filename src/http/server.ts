import { WireError } from '../wire/error.ts'
import { preflight, withCors, type AllowedOrigins } from './cors.ts'
import { errorPage, wantsPage } from './error-page.ts'
import { errorResponse, requestId, type Exchange } from './exchange.ts'
import { passGuards, type Guard } from './pass-guards.ts'
import { requestPath } from './request-target.ts'
import type { Router } from './route.ts'

/** Seconds a connection may be idle between requests. */
const idleSeconds = 75
/** The same while the system holds what is left of a large answer, for a reader who may be slow. The longest there is. */
const readSeconds = 255

/**
 * What there is to be reached, and by whom. Extensions come and go while the server runs; a request keeps what it began
 * with.
 */
export interface Routing {
  readonly router: Router
  /** Asked in turn about everything that is not public, whether it exists or not. */
  readonly guards: readonly Guard[]
  readonly allowedOrigins: AllowedOrigins
}

/** What {@link startServer} needs. */
export interface ServerOptions {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** Other processes of this service listen there too. Otherwise somebody else who does makes the start fail. */
  readonly isPortShared: boolean
  /** The routing in force. */
  readonly routing: () => Routing
  /** Whether connections are to be closed after their answer. */
  readonly isClosing: () => boolean
  /** Told of a mistake of ours outside a chat request. */
  readonly onMistake: (error: unknown, id: string) => void
}

/** A server that listens. */
export interface Server {
  readonly port: number
  /** How many requests are being answered. */
  readonly pending: number
  /** Stops listening and lets the responses under way finish; `now`: drops them. */
  stop(now: boolean): Promise<void>
}

/** Listens, and sends each request through the guards to its route. @throws when the address cannot be had */
export function startServer({ host, port, isPortShared, routing, isClosing, onMistake }: ServerOptions): Server {
  async function guarded(exchange: Exchange, { router, guards }: Routing): Promise<Response> {
    const { user } = await passGuards(guards, exchange)
    const route = router.find(exchange.request.method, exchange.path)
    return route.handle(user === undefined ? exchange : { ...exchange, user })
  }

  function answer(exchange: Exchange, now: Routing): Response | Promise<Response> {
    const {
      request: { method },
      path,
    } = exchange
    const { router, guards, allowedOrigins } = now
    const methods = method === 'OPTIONS' ? router.methods(path) : []
    if (methods.length > 0) {
      const response = preflight(exchange.request, methods.join(', '), allowedOrigins)
      response.headers.set('x-request-id', exchange.id)
      return response
    }
    if (guards.length > 0 && !router.isPublic(method, path)) return guarded(exchange, now)
    return router.find(method, path).handle(exchange)
  }

  function asWireError(error: unknown, id: string): WireError {
    if (error instanceof WireError) return error
    onMistake(error, id)
    return new WireError(
      500,
      'api_error',
      'internal_error',
      'The service made a mistake; its log tells more under this request id',
    )
  }

  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: idleSeconds,
    // Larger bodies are refused by the route, in the API's own error shape.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Without it, and with `development` off, a second process would silently take half of the connections.
    reusePort: isPortShared,
    async fetch(request, server) {
      const started = performance.now()
      const id = requestId(request)
      const now = routing()
      let path = ''
      let response: Response
      try {
        path = requestPath(request)
        const address = (): string => server.requestIP(request)?.address ?? ''
        response = await answer(
          {
            request,
            path,
            id,
            started,
            address,
            whoNow: () => passGuards(routing().guards, { request, path, id, address }),
            peerPort: () => server.requestIP(request)?.port,
            keepOpen: () => server.timeout(request, 0),
            letClose: () => server.timeout(request, idleSeconds),
            letRead: () => server.timeout(request, readSeconds),
            drop: () => server.timeout(request, 1),
          },
          now,
        )
      } catch (error) {
        const told = asWireError(error, id)
        response = wantsPage(request, path) ? errorPage(told, id) : errorResponse(told, id)
      }
      if (isClosing()) response.headers.set('connection', 'close')
      return withCors(request, response, now.allowedOrigins)
    },
    error: () =>
      errorResponse(
        new WireError(500, 'api_error', 'internal_error', 'The service made a mistake'),
        crypto.randomUUID(),
      ),
  })

  return {
    port: server.port ?? port,
    get pending() {
      return server.pendingRequests
    },
    stop: (now) => server.stop(now),
  }
}
