import { WireError } from '../../wire/error.ts'
import type { ExtensionLog, ExtensionRoute, Visit } from '../extension.ts'
import { ErrorWithHeader, redirection } from './answers.ts'
import { mayBeNavigation } from './browser.ts'
import { parseCallbackQuery } from './callback-query.ts'
import type { ClientAddresses } from './client-address.ts'
import type { Credentials } from './credentials.ts'
import { StateRefused, type Flows } from './flows.ts'
import type { Identity, IdentityProvider } from './identity-provider.ts'
import type { SessionCookie } from './session-cookie.ts'
import type { Sessions } from './sessions.ts'
import type { AllowList } from './settings.ts'

/** Whom to ask who somebody is, and what is remembered meanwhile. */
export interface OAuthSignIn {
  readonly identityProvider: IdentityProvider
  readonly flows: Flows
}

/** What {@link signInRoutes} needs. */
export interface SignInOptions {
  /** Absent while there is no client id or secret: nobody can sign in. */
  readonly oauth: OAuthSignIn | undefined
  readonly sessions: Sessions
  readonly credentials: Credentials
  readonly cookie: SessionCookie
  readonly clients: ClientAddresses
  readonly restrictTo: AllowList | undefined
  readonly log: ExtensionLog
}

/** `GET /auth/provider` and `GET /auth/provider/callback`: the two ends of a sign-in (docs/sign-in.md). */
export function signInRoutes({
  oauth,
  sessions,
  credentials,
  cookie,
  clients,
  restrictTo,
  log,
}: SignInOptions): readonly ExtensionRoute[] {
  async function start(visit: Visit): Promise<Response> {
    const { identityProvider, flows } = configured(visit)
    if (!mayBeNavigation(visit.request)) {
      throw new WireError(
        403,
        'permission_error',
        'not_a_navigation',
        'Sign-in begins with a link that somebody follows, not with a picture, a frame, a script or a prefetch',
      )
    }
    try {
      const { url, setCookies } = await flows.begin(identityProvider, {
        request: visit.request,
        client: clients.keyOf(visit),
      })
      return redirection(302, url, setCookies)
    } catch (error) {
      logFailure('start', error, visit)
      throw error
    }
  }

  async function callback(visit: Visit): Promise<Response> {
    const { identityProvider, flows } = configured(visit)
    const parameters = parseCallbackQuery(visit.request.url)
    if (parameters === undefined) {
      const error = flows.refusal('the callback is malformed')
      logFailure('state', error, visit)
      throw error
    }
    try {
      const secrets = await logged('state', visit, () => flows.redeem(parameters, visit.request))
      const identity = await logged('identity provider', visit, () => identityProvider.identify(parameters, secrets))
      const token = await admit(identity, visit)
      return redirection(302, `/?session=${token}`, [cookie.holding(token), flows.forgetting(parameters.state)])
    } catch (error) {
      throw error instanceof WireError
        ? new ErrorWithHeader(error, 'set-cookie', flows.forgetting(parameters.state))
        : error
    }
  }

  async function admit(identity: Identity, { request, id }: Visit): Promise<string> {
    refuseOthers(identity, id)
    const before = await credentials.find(request)
    if (before.kind === 'live') await sessions.end(before.token)
    const token = await sessions.begin(identity)
    log.info('signed in', { request: id, user: identity.userName, id: identity.userId })
    return token
  }

  function refuseOthers(identity: Identity, request: string): void {
    if (restrictTo === undefined || restrictTo.allows(identity)) return
    log.warn('sign-in refused', { request, user: identity.userName, id: identity.userId, reason: 'not in restrict_to' })
    throw new WireError(403, 'permission_error', 'access_denied', 'Access Denied', {
      advice: 'This account may not sign in here. The owner of the service decides who may.',
    })
  }

  async function logged<Value>(stage: string, visit: Visit, work: () => Promise<Value>): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      logFailure(stage, error, visit)
      throw error
    }
  }

  function logFailure(stage: string, error: unknown, { id }: Visit): void {
    if (!(error instanceof WireError)) return
    const { code, cause } = error
    if (code === 'access_denied')
      log.warn('sign-in refused', { request: id, reason: 'said no at the identity provider' })
    else
      log.warn('sign-in failed', {
        request: id,
        stage,
        code,
        reason: cause instanceof StateRefused ? cause.message : undefined,
      })
  }

  function configured({ request }: Visit): OAuthSignIn {
    if (request.method === 'HEAD')
      throw new WireError(
        405,
        'invalid_request_error',
        'method_not_allowed',
        'HEAD is not allowed here; allowed: GET',
        { headers: { allow: 'GET' } },
      )
    if (oauth !== undefined) return oauth
    throw new WireError(500, 'api_error', 'oauth_not_configured', 'Provider OAuth not configured', {
      advice: 'The owner of the service has to set client_id and client_secret. The log says what is missing.',
    })
  }

  return [
    { method: 'GET', path: '/auth/provider', handle: start },
    { method: 'GET', path: '/auth/provider/callback', handle: callback },
  ]
}
