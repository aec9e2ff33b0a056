import type { ExtensionRoute } from '../extensions/extension.ts'
import type { KeysContribution } from '../people/keys/service-keys.ts'
import { readControlBody, type BodyTimes } from './entrance/read-body.ts'
import { originPolicy, type OriginFacts } from './origin-policy.ts'
import { checkOwner, type OwnerCheck } from './page/owner-check.ts'
import { sameOriginOnly } from './page/same-origin-only.ts'
import { guardsOf } from './pass-guards.ts'
import { openPath, router, type Route } from './route.ts'
import type { Routing } from './server.ts'

/** Options of {@link extendedRouting}. */
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
  contributions: readonly KeysContribution[],
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
        ...(caller.name === undefined ? {} : { user: caller.name }),
      })
      response.headers.set('x-request-id', id)
      return response
    },
  })
}
