const exposed =
  'x-request-id, x-svc-provider, x-svc-model, x-svc-attempts, x-svc-trail, x-svc-dropped, x-svc-adjusted, ' +
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
