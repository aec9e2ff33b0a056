import type { Contribution, Host } from '../extension.ts'
import { clientAddresses } from './client-address.ts'
import { credentials } from './credentials.ts'
import { flows, flowStoreOptions } from './flows.ts'
import { guard } from './guard.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { seenSessions } from './seen-sessions.ts'
import { sessionCookie } from './session-cookie.ts'
import { sessionRoutes } from './session-routes.ts'
import { sessions, sessionStoreOptions } from './sessions.ts'
import type { Endpoints, Settings } from './settings.ts'
import { signInRoutes } from './sign-in-routes.ts'
import { wall } from './wall.ts'

/** Sign-in by these settings: all parts put together. @param identityProvider there whenever `settings.client` is */
export function signIn(host: Host, settings: Settings, identityProvider: IdentityProvider | undefined): Contribution {
  const { redirectUri, restrictTo, cookieName } = settings
  const { log } = host
  const now = (): number => host.now()
  const ownOrigin = redirectUri === undefined ? undefined : new URL(redirectUri).origin
  const realm = realmOf(settings.endpoints)
  const clients = clientAddresses(settings.trustedProxies)
  const seen = seenSessions(host.store('sessions', sessionStoreOptions), () => host.elapsedMs())
  const known = sessions({ store: seen.strict, now, realm, restrictTo })
  const shown = credentials(known, cookieName)
  const shownOfLate = credentials(sessions({ store: seen.lenient, now, realm, restrictTo }), cookieName)
  const cookie = sessionCookie(cookieName, ownOrigin?.startsWith('https:') ?? false)
  const oauth =
    identityProvider === undefined || ownOrigin === undefined
      ? undefined
      : { identityProvider, flows: flows({ store: host.store('states', flowStoreOptions), now, ownOrigin, realm }) }
  const routes = [
    ...signInRoutes({ oauth, sessions: known, credentials: shown, cookie, clients, restrictTo, log }),
    ...sessionRoutes({ sessions: known, credentials: shown, cookie, ownOrigin, log }),
  ]
  return {
    routes: routes.map(
      wall({ limit: host.limit('requests', { perMinute: settings.requestsPerMinute }), clients, log }),
    ),
    guard: guard(shownOfLate, ownOrigin),
    part: { slots: ['SignIn'], settings: { providerName: settings.displayName, startUrl: '/auth/provider' } },
    ...(ownOrigin === undefined ? {} : { origin: ownOrigin }),
  }
}

/** What tells one identity provider from another: ids and names mean somebody at one of them only. */
function realmOf(endpoints: Endpoints): string {
  return endpoints.kind === 'openid' ? endpoints.issuer : (endpoints.issuer ?? endpoints.authorizeUrl)
}
