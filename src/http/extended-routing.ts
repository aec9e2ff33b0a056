import { isFromOwnPages, isJson } from '../base/same-site.ts'
import type { Contribution, ExtensionRoute } from '../extensions/extension.ts'
import { WireError } from '../formats/error.ts'
import { readControlBody, type BodyTimes } from './entrance/read-body.ts'
import type { HandlerContext } from './handler-context.ts'
import {
  crossSiteRequest,
  hostNames,
  hostNotAllowed,
  isOwnOrigin,
  type OriginFacts,
  originPolicy,
} from './origin-policy.ts'
import { checkOwner, type OwnerCheck } from './page/owner-check.ts'
import { guardsOf } from './pass-guards.ts'
import { openPath, router, type Route } from './route.ts'
import type { Routing } from './server.ts'

export interface RoutingOptions extends Pick<OriginFacts, 'corsOrigins' | 'isLoopback'> {
  /** Time limits of request bodies for routes of extensions. */
  readonly bodyTimes: BodyTimes
  readonly isOwner: OwnerCheck
}

/**
 * The service's own routes and those of its extensions. On equal paths own routes win, then the extension that was
 * named first, so an extension cannot replace the routes of another. Routes below `/api/` are for the pages of this
 * service.
 */
export function extendedRouting(
  own: readonly Route[],
  contributions: readonly Contribution[],
  { bodyTimes, isOwner, ...address }: RoutingOptions,
): Routing {
  const routeOf = extensionRoute({ bodyTimes, isOwner })
  const guards = guardsOf(contributions)
  const ownOrigins = contributions.flatMap(({ origin }) => origin ?? [])
  const facts: OriginFacts = { ...address, isGuarded: guards.length > 0, ownOrigins }
  const routes = contributions.reduce(
    (before, { routes: added = [] }) => [...before, ...added.filter(({ path }) => !isTaken(path, before)).map(routeOf)],
    own,
  )
  return {
    router: router(routes.map(sameOriginOnly(facts))),
    guards,
    origins: originPolicy(facts),
  }
}

/** Whether a path belongs to a route of many paths already. A new exact route would take the path from that route. */
function isTaken(path: string, routes: readonly Route[]): boolean {
  return routes.some((route) => openPath(route.path)?.(path))
}

function extensionRoute({
  bodyTimes,
  isOwner,
}: Pick<RoutingOptions, 'bodyTimes' | 'isOwner'>): (route: ExtensionRoute) => Route {
  return ({ method, path, isPublic = false, isForOwners = false, scope, handle }) => ({
    method,
    path,
    ...(scope === undefined ? {} : { scope }),
    isPublic: isPublic && !isForOwners,
    async handle(context) {
      const { request, path: asked, id, caller } = context
      if (isForOwners) checkOwner(isOwner, context)
      const body = (bytesMax: number): Promise<Uint8Array> => readControlBody(request, { bytesMax, ...bodyTimes })
      const response = await handle({
        request,
        path: asked,
        address: context.address(),
        id,
        body,
        caller,
      })
      response.headers.set('x-request-id', id)
      return response
    },
  })
}

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
