import { clientAddresses } from '../../base/client-address.ts'
import type { Contribution, Host } from '../extension.ts'
import { agents } from './agents/agents.ts'
import { devicePath } from './agents/token-routes.ts'
import { flows, flowStoreOptions } from './oauth/flows.ts'
import type { IdentityProvider } from './oauth/identity-provider.ts'
import { credentials } from './session/credentials.ts'
import { guard } from './session/guard.ts'
import { publicWithRateLimit } from './session/rate-limit.ts'
import { sessionCache } from './session/session-cache.ts'
import { sessionCookie } from './session/session-cookie.ts'
import { sessionRoutes } from './session/session-routes.ts'
import { nameStoreOptions, ownerOf, personCheck, sessions, sessionStoreOptions } from './session/sessions.ts'
import {
  noteRefusals,
  noteUses,
  refusalStoreOptions,
  signedInPeople,
  useStoreOptions,
} from './session/signed-in-people.ts'
import type { Endpoints, Settings } from './settings/settings.ts'
import { signInRoutes } from './sign-in-routes.ts'

/** Assembles sign-in from its parts. @param identityProvider present if `settings.client` is */
export function signIn(host: Host, settings: Settings, identityProvider: IdentityProvider | undefined): Contribution {
  const { redirectUri, restrictTo, cookieName, hasCaselessNames } = settings
  const { log } = host
  const now = (): number => host.now()
  const ownOrigin = redirectUri === undefined ? undefined : new URL(redirectUri).origin
  const realm = realmOf(settings.endpoints)
  const clients = clientAddresses(settings.trustedProxies)
  const cache = sessionCache(host.store('sessions', sessionStoreOptions), () => host.elapsedMs(), ownerOf)
  const common = { now, realm, restrictTo, names: host.store('names', nameStoreOptions), hasCaselessNames }
  const allSessions = sessions({ store: cache.direct, ...common })
  const storedCredentials = credentials(allSessions, cookieName)
  const cachedCredentials = credentials(sessions({ store: cache.withFallback, ...common }), cookieName)
  const cookie = sessionCookie(cookieName, ownOrigin?.startsWith('https:') ?? false)
  const oauth =
    identityProvider === undefined || ownOrigin === undefined
      ? undefined
      : { identityProvider, flows: flows({ store: host.store('states', flowStoreOptions), now, ownOrigin, realm }) }
  const ofAgents = agents({ host, settings, origin: ownOrigin, realm, clients, credentials: storedCredentials })
  const uses = host.store('uses', useStoreOptions)
  const refusals = host.store('refusals', refusalStoreOptions)
  const limit = host.limit('requests', { perMinute: settings.requestsPerMinute })
  const routes = [
    ...signInRoutes({
      ...{ oauth, sessions: allSessions, credentials: storedCredentials, cookie, clients, restrictTo, log },
      onRefused: noteRefusals(refusals, realm, now),
    }),
    ...sessionRoutes({
      sessions: allSessions,
      credentials: storedCredentials,
      cookie,
      ownOrigin,
      agents: ofAgents.people,
      log,
    }),
    ...ofAgents.pageRoutes,
  ]
  return {
    routes: [...routes.map(publicWithRateLimit({ limit, clients, log })), ...ofAgents.routes],
    ...(ofAgents.recognise === undefined ? {} : { recognise: ofAgents.recognise }),
    guard: guard(cachedCredentials, ownOrigin, hasCaselessNames, noteUses(uses, now)),
    people: signedInPeople({
      ...{
        realm,
        settings,
        sessions: allSessions,
        store: cache.direct,
        uses,
        refusals,
        credentials: storedCredentials,
        agents: ofAgents.people,
      },
    }),
    identityProvider: realm,
    mayEnter: personCheck(realm, restrictTo),
    ...(identityProvider === undefined ? {} : { probe: () => identityProvider.probe() }),
    part: {
      slots: ['SignIn'],
      settings: {
        providerName: settings.displayName,
        startUrl: '/auth/provider',
        ...(ofAgents.people === undefined ? {} : { agentsUrl: devicePath }),
        ...(settings.note === undefined ? {} : { note: settings.note }),
        ...(settings.icon === undefined ? {} : { icon: settings.icon }),
      },
    },
    ...(ownOrigin === undefined ? {} : { origin: ownOrigin }),
  }
}

/** Identifies the identity provider; user ids and names are unique only within it. */
function realmOf(endpoints: Endpoints): string {
  return endpoints.kind === 'openid' ? endpoints.issuer : (endpoints.issuer ?? endpoints.authorizeUrl)
}
