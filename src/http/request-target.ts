import { WireError } from '../formats/error.ts'

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
