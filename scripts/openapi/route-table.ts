import { servePage } from '../../src/app/page/serve-page.ts'
import { servedRoutes } from '../../src/app/served-routes.ts'
import type { ExtensionRoute } from '../../src/extensions/extension.ts'
import { telemetryRoutes } from '../../src/extensions/provider_auth/agents/agents.ts'
import { deviceRoutes } from '../../src/extensions/provider_auth/agents/device-routes.ts'
import { tokenRoutes } from '../../src/extensions/provider_auth/agents/token-routes.ts'
import { publicWithRateLimit } from '../../src/extensions/provider_auth/session/rate-limit.ts'
import { sessionRoutes } from '../../src/extensions/provider_auth/session/session-routes.ts'
import { signInRoutes } from '../../src/extensions/provider_auth/sign-in-routes.ts'
import type { Route } from '../../src/http/route.ts'
import { keyRoutes } from '../../src/people/keys/key-routes.ts'
import { ownKeyRoutes } from '../../src/people/keys/own-key-routes.ts'

/** A route of the service or of an extension, without its handler. */
export type TableRoute = Omit<Route, 'handle' | 'isPublic'> & Pick<ExtensionRoute, 'isPublic' | 'isForOwners'>

/** Every route that the service and its extensions can have. No handler of them may be called. */
export function routeTable(): readonly TableRoute[] {
  const needs = { path: '', environment: {}, accessPath: undefined }
  const page = servePage(absent(needs))
  return [
    ...servedRoutes(absent({ ...needs, page })),
    ...keyRoutes(absent(), absent()),
    ...ownKeyRoutes(absent(), absent()),
    ...[...tokenRoutes(absent()), ...telemetryRoutes],
    ...[...deviceRoutes(absent()), ...sessionRoutes(absent()), ...signInRoutes(absent())].map(
      publicWithRateLimit(absent()),
    ),
  ].filter(({ path }: TableRoute) => path !== '/auth/')
}

/**
 * Stands for parts of the service that only handlers use: each of its members and results is another such value.
 *
 * @param given members that are used while routes are made
 */
function absent<Part>(given: Readonly<Record<string, unknown>> = {}): Part {
  const members: ProxyHandler<() => unknown> = {
    get(_, name) {
      if (typeof name === 'string' && Object.hasOwn(given, name)) return given[name]
      if (name === Symbol.iterator) return [][Symbol.iterator]
      return name === Symbol.toPrimitive ? () => '' : absent()
    },
    apply: () => absent(),
  }
  // It has every member, so it is of every type.
  return new Proxy(() => undefined, members) as Part
}
