const exposed =
  'x-request-id, x-svc-provider, x-svc-model, x-svc-attempts, x-svc-trail, server-timing, x-should-retry, retry-after'

/** Which pages may call the API from a browser: any, or these origins only. Never with credentials. */
export type AllowedOrigins = '*' | ReadonlySet<string>

/**
 * The answer to a preflight: the requested headers are echoed, since a fixed list breaks every client that adds one
 * (docs/api.md).
 */
export function preflight(request: Request, methods: string, allowed: AllowedOrigins): Response {
  const headers = new Headers({ allow: methods, vary: 'Origin, Access-Control-Request-Headers' })
  if (isAllowed(request, allowed) && isApi(request)) {
    headers.set('access-control-allow-origin', originValue(request, allowed))
    headers.set('access-control-allow-methods', methods)
    headers.set('access-control-allow-headers', request.headers.get('access-control-request-headers') ?? '')
    headers.set('access-control-max-age', '86400')
  }
  return new Response(null, { status: 204, headers })
}

/**
 * Adds what a page's script needs to read a response of the API. A request without `Origin`, or for anything else, gets
 * nothing.
 */
export function withCors(request: Request, response: Response, allowed: AllowedOrigins): Response {
  if (request.headers.get('origin') === null || !isAllowed(request, allowed) || !isApi(request)) return response
  response.headers.set('access-control-allow-origin', originValue(request, allowed))
  response.headers.set('access-control-expose-headers', exposed)
  if (allowed !== '*') response.headers.append('vary', 'Origin')
  return response
}

function isApi({ url }: Request): boolean {
  return URL.canParse(url) && new URL(url).pathname.startsWith('/v1/')
}

function isAllowed(request: Request, allowed: AllowedOrigins): boolean {
  return allowed === '*' || allowed.has(request.headers.get('origin') ?? '')
}

function originValue(request: Request, allowed: AllowedOrigins): string {
  return allowed === '*' ? '*' : (request.headers.get('origin') ?? '')
}
