import type { Contribution } from '../extensions/extension.ts'
import { router, type Route } from './route.ts'
import type { Routing } from './server.ts'

/**
 * The service's own routes, with what an extension adds. Own routes win: an extension cannot take one over.
 * Without an extension pages from everywhere may call the API; with one that names its origin, only those and the ones listed (decisions.md 4, CORS).
 */
export function extendedRouting(own: readonly Route[], contribution: Contribution | undefined, corsOrigins: readonly string[]): Routing {
  const { routes = [], guard, origin } = contribution ?? {}
  return {
    router: router([...own, ...routes.map(({ method, path, isPublic = false, handle }): Route => ({
      method,
      path,
      isPublic,
      async handle({ request, path: asked, address, id }) {
        const response = await handle({ request, path: asked, address: address(), id })
        response.headers.set('x-request-id', id)
        return response
      },
    }))]),
    guards: guard === undefined ? [] : [guard],
    allowedOrigins: guard === undefined ? '*' : new Set(origin === undefined ? corsOrigins : [origin, ...corsOrigins]),
  }
}
