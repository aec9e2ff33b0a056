import { isIP } from 'node:net'
import { WireError } from '../wire/error.ts'
import type { Exchange } from './exchange.ts'
import type { Route } from './route.ts'

/** What {@link ownPagesOnly} is told of the routing that its routes are part of. */
export interface Surroundings {
  /** Somebody has to pass a guard. */
  readonly isGuarded: boolean
  /** Where the pages of this service are from, as extensions say. */
  readonly ownOrigins: readonly string[]
  /** Origins of `SVC_CORS_ORIGINS`: their hosts are names that this service may be called by. */
  readonly corsOrigins: readonly string[]
}

/** Below it lies what the page asks for, and nobody else's page may. */
const prefix = '/api/'

/**
 * The wall before the API of the page (docs/decisions/0008-the-page.md): a route below `/api/` is answered to the pages
 * of this service, and to programs; any other route is given back as it is. It allows nothing by CORS, and what changes
 * something must prove that no other site's page sends it.
 */
export function ownPagesOnly({ isGuarded, ownOrigins, corsOrigins }: Surroundings): (route: Route) => Route {
  const names = new Set(corsOrigins.map((origin) => withoutDot(new URL(origin).hostname)))
  // Without a guard everybody's pages may call the rest of the API anyway: what is listed then are addresses of this service.
  const origins = isGuarded ? ownOrigins : [...ownOrigins, ...corsOrigins]

  function check(exchange: Exchange, { isPublic }: Route): void {
    const isNamed = exchange.user !== undefined
    // Cookies and tokens are not sent to another name; who shows neither may be a page whose name was made to point here.
    if (!isNamed && !(isGuarded && isPublic) && !isSafeHost(exchange.request, names)) throw foreignHost()
    if (exchange.request.method !== 'POST') return
    if (!isJson(exchange.request))
      throw new WireError(
        415,
        'invalid_request_error',
        'unsupported_media_type',
        'The body must be sent as content-type: application/json',
      )
    if (!isFromOwnPages(exchange.request, origins))
      throw new WireError(
        403,
        'permission_error',
        'cross_site_request',
        'Cross-site request: only the pages of this service may send this',
      )
  }

  return function behindWall(route) {
    if (!route.path.startsWith(prefix)) return route
    return {
      ...route,
      async handle(exchange) {
        check(exchange, route)
        const response = await route.handle(exchange)
        for (const [name, value] of Object.entries(harmless)) response.headers.set(name, value)
        return response
      },
    }
  }
}

/** What lies below `/api/` is taken for nothing but what it is, and read by no other site. */
const harmless = {
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Whether nobody else can have made the name in `Host` point to this machine. */
function isSafeHost({ headers }: Request, names: ReadonlySet<string>): boolean {
  const host = headers.get('host') ?? ''
  const name = withoutDot(host.replace(/:\d+$/, '').toLowerCase())
  return (
    isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 ||
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    names.has(name)
  )
}

/** `localhost.` is `localhost`. */
function withoutDot(name: string): string {
  return name.replace(/\.$/, '')
}

function foreignHost(): WireError {
  return new WireError(
    403,
    'permission_error',
    'host_not_allowed',
    'Under this host name the page of the service works only with sign-in (--auth), or when SVC_CORS_ORIGINS lists its address: else any website could have a name of its own lead here',
    {
      advice: 'Open the service by its IP address, or as localhost.',
    },
  )
}

function isJson({ headers }: Request): boolean {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === 'application/json'
}

/**
 * `Sec-Fetch-Site` decides where a browser sends it, that is over https and on this machine; else `Origin`. A program
 * sends neither.
 */
function isFromOwnPages({ headers }: Request, ownOrigins: readonly string[]): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' || site === 'none'
  const origin = headers.get('origin')
  if (origin === null || ownOrigins.includes(origin)) return true
  return URL.canParse(origin) && new URL(origin).host === headers.get('host')?.toLowerCase()
}

/** Whether who asks may change the providers and see everybody's requests. */
export type OwnerCheck = (exchange: Exchange) => boolean

/** Without guards everybody may. @param mayOwn of whom the guards let pass; `undefined`: they name nobody */
export function ownerCheck(isGuarded: () => boolean, mayOwn: (user: string | undefined) => boolean): OwnerCheck {
  return ({ user }) => !isGuarded() || mayOwn(user)
}
