import { escapeHtml } from '../base/escape-html.ts'
import type { Access } from '../formats/access.ts'
import { NoAnswer, WireError } from '../formats/error.ts'
import type { Caller } from '../people/person.ts'
import { errorResponse, errorHeaders } from './error-response.ts'
import type { OriginPolicy } from './origin-policy.ts'
import { languageHeaders, languageOf } from './page/page-files.ts'
import { passGuards, type Guard } from './pass-guards.ts'
import type { Route, Router } from './route.ts'
import { idleSeconds, ServedContext, type ContextServer } from './served-context.ts'

/*
 * The way of a request from the socket. Bun parses HTTP and hands over a `Request`. Malformed targets are refused
 * (`requestPath`), then foreign origins and host names (`origin-policy.ts`). A path that is not public passes the
 * guards (`pass-guards.ts`), which make its caller; only then does `route.ts` tell 404 from 405. A key needs the scope
 * of its route. `entrance/` serves the API of models: admission, body, check, gateway, delivery, record. `page/` serves
 * the page and its API. Each thrown error is written by `error-response.ts`, in the format of its route.
 */

/** Routes, guards and origins. They change with the extensions; a request keeps those of its start. */
export interface Routing {
  readonly router: Router
  /** Asked in turn about every path that is not public, known or not. */
  readonly guards: readonly Guard[]
  readonly origins: OriginPolicy
}

export interface ServerOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** Other processes of this service listen on this port too. Otherwise a port that is in use makes the start fail. */
  readonly isPortShared: boolean
  /** Exact paths that are asked for often. Bun matches them, and does not parse the address of their requests. */
  readonly commonPaths?: readonly string[]
  /** The current routing. */
  readonly routing: () => Routing
  /** Whether connections are closed after their answer. */
  readonly isClosing: () => boolean
  /** The delay of the answer to a client that is refused; `undefined`: none. */
  readonly refusalDelay?: (client: string) => Promise<void> | undefined
  /** Called with an internal error outside a chat request. */
  readonly onInternalError: (error: unknown, id: string) => void
}

/** A server that listens. */
export interface Server {
  readonly port: number
  /** Number of requests being answered. */
  readonly pending: number
  /** Stops listening. Open responses finish, or are dropped with `now`. */
  stop(now: boolean): Promise<void>
}

/** Listens, and passes each request through the guards to its route. @throws {Error} when it cannot listen there */
export function startServer({
  host,
  port,
  isPortShared,
  commonPaths = [],
  routing,
  isClosing,
  refusalDelay = () => undefined,
  onInternalError,
}: ServerOptions): Server {
  const currentGuards = () => routing().guards

  async function serve(request: Request, server: ContextServer, knownPath?: string): Promise<Response> {
    const context = new ServedContext(request, server, currentGuards)
    const now = routing()
    let response: Response
    try {
      context.path = requestPath(request, knownPath)
      now.origins.check(request, context.path)
      response = await answer(context, now)
    } catch (error) {
      if (error instanceof NoAnswer) return closedConnection()
      response = refusal(context, asWireError(error, context.id, onInternalError), now)
    }
    if (context.isRefused) await refusalDelay(clientOf(context))
    unsniffed(response)
    if (isClosing()) response.headers.set('connection', 'close')
    const origin = request.headers.get('origin')
    if (origin === null || !now.origins.allows(request) || now.router.formatOf(context.path) === undefined)
      return response
    return withCors(origin, response)
  }

  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: idleSeconds,
    // Routes refuse larger bodies themselves, in the error shape of the API.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Always set: with `development` off, Bun's default lets a second process silently take half of the connections.
    reusePort: isPortShared,
    routes: Object.fromEntries(
      commonPaths.map((path) => [path, (request: Request, server: ContextServer) => serve(request, server, path)]),
    ),
    fetch: (request, server) => serve(request, server),
    error: () =>
      unsniffed(
        errorResponse(new WireError(500, 'api_error', 'internal_error', 'Internal error'), crypto.randomUUID()),
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

/** Bun closes the connection, and sends no byte, for a body that has failed before its first one. */
function closedConnection(): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.error() }))
}

function guarded(context: ServedContext, { router, guards }: Routing): Response | Promise<Response> {
  const caller = passGuards(guards, context)
  return caller instanceof Promise
    ? caller.then((known) => admitted(context, router, known))
    : admitted(context, router, caller)
}

function admitted(context: ServedContext, router: Router, caller: Caller): Response | Promise<Response> {
  context.caller = caller
  const route = router.find(context.request.method, context.path)
  if (caller.access !== undefined) checkScope(caller.access, route)
  return route.handle(context)
}

function answer(context: ServedContext, now: Routing): Response | Promise<Response> {
  const {
    request: { method },
    path,
  } = context
  const { router, guards } = now
  const methods = method === 'OPTIONS' ? router.methods(path) : []
  if (methods.length > 0) {
    const response = preflight(context.request, methods.join(', '), router.formatOf(path) !== undefined)
    response.headers.set('x-request-id', context.id)
    return response
  }
  if (guards.length > 0 && !router.isPublic(method, path)) return guarded(context, now)
  return router.find(method, path).handle(context)
}

function asWireError(error: unknown, id: string, onInternalError: ServerOptions['onInternalError']): WireError {
  if (error instanceof WireError) return error
  onInternalError(error, id)
  return new WireError(500, 'api_error', 'internal_error', 'Internal error; see the service log for this request id')
}

function refusal(context: ServedContext, error: WireError, { router }: Routing): Response {
  const { request, id } = context
  const format = router.formatOf(context.path, request.headers)
  if (format !== undefined) context.onRefusal(error)
  if (format === undefined && wantsPage(request)) return errorPage(error, id, request.headers)
  return errorResponse(error, id, { format })
}

/** Keeps browsers from taking an answer for another type than it says. */
function unsniffed(response: Response): Response {
  response.headers.set('x-content-type-options', 'nosniff')
  return response
}

/** A key by its line, a user by their name, all others by their address. */
function clientOf(context: ServedContext): string {
  const { key, name } = context.caller
  if (key !== undefined) return `key ${key.line}`
  return name === undefined ? `address ${context.address()}` : `user ${name}`
}

/** @throws {WireError} 403 when a key does not admit to a route */
function checkScope(access: Access, { scope, isForEachKey }: Route): void {
  if (isForEachKey === true) return
  if (scope !== undefined && access.mayDo(scope)) return
  const reason = scope === undefined ? 'Keys are not for this path' : `This needs a key with the scope ${scope}`
  throw new WireError(403, 'permission_error', 'scope_missing', reason)
}

const exposed =
  'x-request-id, x-svc-provider, x-svc-model, x-svc-attempts, x-svc-trail, x-svc-dropped, x-svc-adjusted, ' +
  'x-svc-cost, x-svc-estimated, x-svc-replayed, x-svc-recorded, ' +
  'server-timing, x-should-retry, retry-after, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, ' +
  'x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens'

/**
 * Answers a preflight of an allowed origin. It echoes the requested headers, since a fixed list would break clients
 * that send others (docs/api.md).
 */
export function preflight(request: Request, methods: string, isApi: boolean): Response {
  const headers = new Headers({ allow: methods })
  if (isApi && request.headers.has('origin')) {
    headers.set('access-control-allow-methods', methods)
    headers.set('access-control-allow-headers', request.headers.get('access-control-request-headers') ?? '')
    headers.set('access-control-max-age', '86400')
    headers.set('vary', 'Access-Control-Request-Headers')
  }
  return new Response(null, { status: 204, headers })
}

/**
 * Adds the headers that allow a page of an allowed origin to read a response of the API, never with credentials.
 */
export function withCors(origin: string, response: Response): Response {
  response.headers.set('access-control-allow-origin', origin)
  response.headers.set('access-control-expose-headers', exposed)
  response.headers.append('vary', 'Origin')
  return response
}

const saneHost = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/
const portMax = 65_535
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])

/**
 * The path of a request, without its query. `Bun.serve` has already resolved dot segments and turned `\` into `/`.
 *
 * @param known the path, if the server has matched it
 * @throws {WireError} 400 for a missing, repeated or malformed `Host`, or a body on GET or HEAD; 501 for other methods
 */
export function requestPath(request: Request, known?: string): string {
  const { method, headers } = request
  const host = headers.get('host')
  if (!isHost(host)) throw badRequest('The Host header is missing, repeated or malformed')
  if (!knownMethods.has(method))
    throw new WireError(501, 'invalid_request_error', 'method_not_allowed', `The method ${method} is not supported`)
  if ((method === 'GET' || method === 'HEAD') && hasBody(headers))
    throw badRequest(`${method} requests must not have a body`)
  return known ?? pathOf(request)
}

function isHost(host: string | null): boolean {
  const found = host === null ? null : saneHost.exec(host)
  return found !== null && Number(found[1] ?? 0) <= portMax
}

function pathOf({ url }: Request): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  const fragment = url.indexOf('#', start)
  const stop = Math.min(end === -1 ? url.length : end, fragment === -1 ? url.length : fragment)
  return start === -1 ? '/' : url.slice(start, stop)
}

function hasBody(headers: Headers): boolean {
  const length = headers.get('content-length')
  return headers.has('transfer-encoding') || (length !== null && length !== '0')
}

function badRequest(message: string): WireError {
  return new WireError(400, 'invalid_request_error', 'bad_request', message)
}

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  body { max-width: 36rem; margin: 15vh auto; padding: 0 1.5rem }
  h1 { font-size: 1.5rem }
  small { opacity: .7 }
`
const styleHash = new Bun.CryptoHasher('sha256').update(style).digest('base64')
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Whether a browser navigates: outside of the API, an error is a page then. */
export function wantsPage(request: Request): boolean {
  const mode = request.headers.get('sec-fetch-mode')
  return (mode === null || mode === 'navigate') && (request.headers.get('accept') ?? '').includes('text/html')
}

const backLinks: Readonly<Record<string, string>> = { en: 'Back to the start', de: 'Zurück zum Anfang' }

/**
 * An error as a small static page: message, advice and a link to the start, in the language of the browser if the error
 * has it. Of the request it shows only the id.
 */
export function errorPage(error: WireError, id: string, headers = new Headers()): Response {
  const { wayOn, translations } = error
  const language = languageOf(headers, ['en', ...Object.keys(translations)])
  const texts = translations[language] ?? { message: error.message, advice: error.advice, wayOn: wayOn?.text }
  const message = escapeHtml(texts.message)
  const advice = texts.advice === undefined ? '' : `\n<p>${escapeHtml(texts.advice)}</p>`
  const onText = texts.wayOn ?? wayOn?.text ?? ''
  const link = wayOn === undefined ? '' : `<p><a href="${escapeHtml(wayOn.path)}">${escapeHtml(onText)}</a></p>\n`
  const body = `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${message}</title>
<style>${style}</style>
<main>
<h1>${message}</h1>${advice}
${link}<p><a href="/">${backLinks[language] ?? backLinks['en']}</a></p>
<p><small>${error.status} ${escapeHtml(error.code)} · request ${escapeHtml(id)}</small></p>
</main>
</html>
`
  return new Response(body, {
    status: error.status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      vary: languageHeaders,
      ...errorHeaders(error, id),
    },
  })
}
