import type { Contribution, ExtensionRoute } from '../extensions/extension.ts'
import { ownPagesOnly } from './own-pages.ts'
import { router, type Route } from './route.ts'
import type { Routing } from './server.ts'

/**
 * The service's own routes, with what extensions add. Own routes win, then those of the extension that was named first:
 * none can take over another's. Whatever lies below `/api/` is for the pages of this service. Without a guard pages
 * from everywhere may call the rest of the API; with one, only those of the origins that extensions name and of the
 * ones listed (docs/api.md).
 */
export function extendedRouting(
  own: readonly Route[],
  contributions: readonly Contribution[],
  corsOrigins: readonly string[],
): Routing {
  const guards = contributions.flatMap(({ guard }) => guard ?? [])
  const ownOrigins = contributions.flatMap(({ origin }) => origin ?? [])
  const isGuarded = guards.length > 0
  const routes = contributions.reduce(
    (before, { routes: added = [] }) => [...before, ...added.filter(({ path }) => !isTaken(path, before)).map(routeOf)],
    own,
  )
  return {
    router: router(routes.map(ownPagesOnly({ isGuarded, ownOrigins, corsOrigins }))),
    guards,
    allowedOrigins: isGuarded ? new Set([...ownOrigins, ...corsOrigins]) : '*',
  }
}

/** Whether a path lies below one that stands for all below it: an exact one would win. */
function isTaken(path: string, routes: readonly Route[]): boolean {
  return routes.some(
    (route) => route.path.length > 1 && route.path.endsWith('/') && path.startsWith(route.path) && path !== route.path,
  )
}

function routeOf({ method, path, isPublic = false, handle }: ExtensionRoute): Route {
  return {
    method,
    path,
    isPublic,
    async handle({ request, path: asked, address, id }) {
      const response = await handle({ request, path: asked, address: address(), id })
      response.headers.set('x-request-id', id)
      return response
    },
  }
}
