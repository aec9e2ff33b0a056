import { isIP } from 'node:net'
import { WireError } from '../formats/error.ts'

/** Facts about the service that {@link originPolicy} depends on. */
export interface OriginFacts {
  /** Requests must pass a guard. */
  readonly isGuarded: boolean
  /** The service listens on a loopback address. */
  readonly isLoopback: boolean
  /** Origins of the service's own pages, as extensions name them. */
  readonly ownOrigins: readonly string[]
  /** Origins of `SVC_CORS_ORIGINS`; `*` stands for all. */
  readonly corsOrigins: readonly string[]
}

/** Decides which pages in browsers may send requests, and to which host names (docs/api.md). */
export interface OriginPolicy {
  /** Whether a request has no `Origin`, or an allowed one. */
  readonly allows: (request: Request) => boolean
  /** Does not read the body. @throws {WireError} 403 for an origin or a host that is not allowed */
  readonly check: (request: Request, path: string) => void
}

const loopbackOrigin = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/
const appOrigin = /^(?:app|file|tauri|capacitor|vscode-webview|moz-extension|chrome-extension):\/\/[^/?#@*\s]*$/

/**
 * Refuses foreign origins and, on a loopback address without a guard, foreign host names. Otherwise any website could
 * use the owner's keys through the browser of a person who can reach the service: a `text/plain` POST of a form needs
 * no preflight.
 */
export function originPolicy({ isGuarded, isLoopback, ownOrigins, corsOrigins }: OriginFacts): OriginPolicy {
  const listed = new Set(corsOrigins)
  const isKnownHost = hostNames(corsOrigins)

  function allows(request: Request): boolean {
    const origin = request.headers.get('origin')
    if (origin === null || listed.has('*') || listed.has(origin)) return true
    if (!isGuarded && (loopbackOrigin.test(origin) || isAppOrigin(origin))) return true
    return request.headers.get('sec-fetch-site') === 'same-origin' || isOwnOrigin(request, origin, ownOrigins)
  }

  return {
    allows,
    check(request, path) {
      if (isLoopback && !isGuarded && path !== '/health' && !isKnownHost(request)) throw hostNotAllowed(request)
      if (!allows(request))
        throw isGuarded && request.headers.has('cookie') ? crossSiteRequest() : originNotAllowed(request)
    },
  }
}

/** Whether an origin belongs to pages inside a desktop program, or to a browser extension. */
export function isAppOrigin(origin: string): boolean {
  return appOrigin.test(origin)
}

/** Whether an origin is one of the service's own, or has the host that the request was sent to. */
export function isOwnOrigin({ headers }: Request, origin: string, ownOrigins: readonly string[]): boolean {
  if (ownOrigins.includes(origin)) return true
  return /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).host === headers.get('host')?.toLowerCase()
}

/** 403: the request is from a page of another website. */
export function crossSiteRequest(): WireError {
  return new WireError(
    403,
    'permission_error',
    'cross_site_request',
    'Cross-site request: only the pages of this service may send this',
  )
}

const shownLength = 100

function originNotAllowed({ headers }: Request): WireError {
  const origin = (headers.get('origin') ?? '').slice(0, shownLength).replace(/[^\x20-\x7e]/g, '?')
  return new WireError(
    403,
    'permission_error',
    'origin_not_allowed',
    `Pages of the origin '${origin}' may not call this service: to allow them, list the origin in SVC_CORS_ORIGINS`,
  )
}

/**
 * Checks that the `Host` of a request is a name that no other website can own: an IP address, `localhost`, a name below
 * `.localhost`, or the host of one of `origins`. A website can point any other name at this machine, and its page then
 * counts as the service's own (DNS rebinding).
 */
export function hostNames(origins: readonly string[]): (request: Request) => boolean {
  const listed = new Set(
    origins.filter((origin) => /^https?:/.test(origin)).map((origin) => withoutDot(new URL(origin).hostname)),
  )
  /** The last one that was known: most requests have the same. */
  let known: string | undefined
  return function isKnown({ headers }) {
    const host = headers.get('host') ?? ''
    if (host === known) return true
    const name = withoutDot(host.replace(/:\d+$/, '').toLowerCase())
    const isKnownName =
      isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 ||
      name === 'localhost' ||
      name.endsWith('.localhost') ||
      listed.has(name)
    if (isKnownName) known = host
    return isKnownName
  }
}

/** 403: the host name of the request is not known. */
export function hostNotAllowed({ headers }: Request): WireError {
  const found = `The host name '${(headers.get('host') ?? '').slice(0, shownLength)}' is not allowed without sign-in`
  const ways = 'call the service by its IP address or as localhost, switch sign-in on (--auth), or list its address in'
  return new WireError(403, 'permission_error', 'host_not_allowed', `${found}: ${ways} SVC_CORS_ORIGINS`, {
    advice: 'Any website could otherwise make a name of its own point here (DNS rebinding).',
  })
}

/** Loopback addresses in the spelling of `URL`; the last form is an IPv4 address in IPv6. */
const loopbackName = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/

/** Whether an address to listen on, in any spelling (`127.1`, `0:0:0:0:0:0:0:1`), is reached from this machine only. */
export function isLoopbackAddress(host: string): boolean {
  const url = `http://${isIP(host) === 6 ? `[${host.replace(/%.*/, '')}]` : host}/`
  return URL.canParse(url) && loopbackName.test(new URL(url).hostname)
}

/** Removes the dot at the end of a fully qualified name: `localhost.` is `localhost`. */
function withoutDot(name: string): string {
  return name.replace(/\.$/, '')
}
