import { isFromOwnPages, isJson } from '../../base/same-site.ts'
import { WireError } from '../../formats/error.ts'
import type { HandlerContext } from '../handler-context.ts'
import { hostNames, hostNotAllowed } from '../host-names.ts'
import { crossSiteRequest, isOwnOrigin, type OriginFacts } from '../origin-policy.ts'
import type { Route } from '../route.ts'

/** Routes below it are for the pages of this service. */
const prefix = '/api/'

/**
 * Restricts routes below `/api/` to the pages of this service and to programs (docs/decisions/0008-the-page.md); other
 * routes are returned unchanged. The answers allow no CORS. A POST must prove that no page of another site sends it.
 */
export function sameOriginOnly({
  isGuarded,
  ownOrigins,
  corsOrigins,
}: Omit<OriginFacts, 'isLoopback'>): (route: Route) => Route {
  const isKnownHost = hostNames(corsOrigins)
  // Without sign-in, SVC_CORS_ORIGINS may list addresses of this service itself, so its origins count as own. Pages of
  // other sites in the list still cannot send JSON: the preflight that this needs is refused here.
  const origins = isGuarded ? ownOrigins : [...ownOrigins, ...corsOrigins]

  function check({ request, caller }: HandlerContext, { isPublic }: Route): void {
    // Cookies and tokens are not sent to another host name. A request with neither may be from a page whose host name
    // was pointed here (DNS rebinding).
    const mayBeRebound = caller.name === undefined && !(isGuarded && isPublic)
    if (mayBeRebound && !isKnownHost(request)) throw hostNotAllowed(request)
    if (request.method !== 'POST') return
    if (!isJson(request))
      throw new WireError(
        415,
        'invalid_request_error',
        'unsupported_media_type',
        'The body must be sent as content-type: application/json',
      )
    if (!isFromOwnPages(request, (origin) => isOwnOrigin(request, origin, origins))) throw crossSiteRequest()
  }

  return function restricted(route) {
    if (!route.path.startsWith(prefix)) return route
    return {
      ...route,
      async handle(context) {
        check(context, route)
        const response = await route.handle(context)
        for (const [name, value] of Object.entries(protection)) response.headers.set(name, value)
        return response
      },
    }
  }
}

/** Keeps other sites from reading an answer. */
const protection = {
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
}
