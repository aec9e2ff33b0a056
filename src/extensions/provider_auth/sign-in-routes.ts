import type { ClientAddresses } from '../../base/client-address.ts'
import { WireError } from '../../formats/error.ts'
import type { ExtensionLog, ExtensionRoute, RequestContext } from '../extension.ts'
import { parseCallbackQuery } from './oauth/callback-query.ts'
import { StateError, type Flows } from './oauth/flows.ts'
import type { Identity, IdentityProvider } from './oauth/identity-provider.ts'
import { accountDenied, anotherAccount, ErrorWithHeader, redirect } from './responses.ts'
import { mayBeNavigation } from './session/browser.ts'
import type { Credentials } from './session/credentials.ts'
import { deviceOf } from './session/device.ts'
import type { SessionCookie } from './session/session-cookie.ts'
import type { Sessions } from './session/sessions.ts'
import type { AllowList } from './settings/settings.ts'

/** The identity provider, and the sign-ins in progress. */
export interface OAuthSignIn {
  readonly identityProvider: IdentityProvider
  readonly flows: Flows
}

export interface SignInOptions {
  /** Absent without client id or secret; all sign-ins then fail. */
  readonly oauth: OAuthSignIn | undefined
  readonly sessions: Sessions
  readonly credentials: Credentials
  readonly cookie: SessionCookie
  readonly clients: ClientAddresses
  readonly restrictTo: AllowList | undefined
  /** Called for a user who is not in `restrictTo`. */
  readonly onRefused: (identity: Identity) => Promise<void>
  readonly log: ExtensionLog
}

/** Of the path that starts a sign-in: it goes on at the page of agents, with a code or without. */
const forAgent = /^\?device(?:=([A-Z]{4}-[A-Z]{4}))?$/

/** One way in: from the page to the identity provider, and back. */
class SignIn {
  readonly #options: SignInOptions

  constructor(options: SignInOptions) {
    this.#options = options
  }

  async start(context: RequestContext): Promise<Response> {
    const { identityProvider, flows } = this.#configured(context)
    if (!mayBeNavigation(context.request)) {
      throw new WireError(
        403,
        'permission_error',
        'not_a_navigation',
        'Sign-in must start with a page navigation, not with an image, a frame, a script or a prefetch',
      )
    }
    const { search } = new URL(context.request.url)
    const agent = forAgent.exec(search)
    try {
      const { url, setCookies } = await flows.begin(identityProvider, {
        request: context.request,
        client: this.#options.clients.keyOf(context),
        asksWho: search === anotherAccount,
        device: agent === null ? undefined : (agent[1] ?? ''),
      })
      return redirect(302, url, setCookies)
    } catch (error) {
      this.#logFailure('start', error, context)
      throw error
    }
  }

  async callback(context: RequestContext): Promise<Response> {
    const { identityProvider, flows } = this.#configured(context)
    const parameters = parseCallbackQuery(context.request.url)
    if (parameters === undefined) {
      const error = flows.invalidState('malformed callback')
      this.#logFailure('state', error, context)
      throw error
    }
    try {
      const { secrets, device } = await this.#logged('state', context, () => flows.redeem(parameters, context.request))
      const identity = await this.#logged('identity provider', context, () =>
        identityProvider.identify(parameters, secrets),
      )
      const token = await this.#admit(identity, context)
      return redirect(302, placeAfter(token, device), [
        this.#options.cookie.create(token),
        flows.cookieDeletion(parameters.state),
      ])
    } catch (error) {
      throw error instanceof WireError
        ? new ErrorWithHeader(error, 'set-cookie', flows.cookieDeletion(parameters.state))
        : error
    }
  }

  async #admit(identity: Identity, { request, id }: RequestContext): Promise<string> {
    const { credentials, sessions, log } = this.#options
    await this.#checkRestriction(identity, id)
    const previous = await credentials.find(request)
    if (previous.kind === 'valid') await sessions.end(previous.token)
    const token = await sessions.begin(identity, deviceOf(request.headers.get('user-agent')))
    log.info('signed in', { request: id, user: identity.userName, id: identity.userId })
    return token
  }

  async #checkRestriction(identity: Identity, request: string): Promise<void> {
    const { restrictTo, onRefused, log } = this.#options
    if (restrictTo === undefined || restrictTo.allows(identity)) return
    log.warn('sign-in refused', { request, user: identity.userName, id: identity.userId, reason: 'not in restrict_to' })
    await onRefused(identity)
    throw accountDenied(identity.userName, this.#options.oauth?.identityProvider.displayName)
  }

  async #logged<Value>(stage: string, context: RequestContext, work: () => Promise<Value>): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      this.#logFailure(stage, error, context)
      throw error
    }
  }

  #logFailure(stage: string, error: unknown, { id }: RequestContext): void {
    if (!(error instanceof WireError)) return
    const { log } = this.#options
    const { code, cause } = error
    if (code === 'access_denied')
      log.warn('sign-in refused', { request: id, reason: 'denied at the identity provider' })
    else
      log.warn('sign-in failed', {
        request: id,
        stage,
        code,
        reason: cause instanceof StateError ? cause.message : undefined,
      })
  }

  #configured({ request }: RequestContext): OAuthSignIn {
    if (request.method === 'HEAD')
      throw new WireError(
        405,
        'invalid_request_error',
        'method_not_allowed',
        'HEAD is not allowed here; allowed: GET',
        { headers: { allow: 'GET' } },
      )
    const { oauth } = this.#options
    if (oauth !== undefined) return oauth
    throw new WireError(500, 'api_error', 'oauth_not_configured', 'Provider OAuth not configured', {
      advice: 'The owner must set client_id and client_secret; the service log names the missing one.',
    })
  }
}

/** The page after a sign-in. @param device as in {@link Flow} */
function placeAfter(token: string, device: string | undefined): string {
  if (device === undefined) return `/?session=${token}`
  return device === '' ? '/device' : `/device?user_code=${device}`
}

/** `GET /auth/provider` and `GET /auth/provider/callback`: start and callback of a sign-in (docs/sign-in.md). */
export function signInRoutes(options: SignInOptions): readonly ExtensionRoute[] {
  const signIn = new SignIn(options)
  return [
    { method: 'GET', path: '/auth/provider', handle: (context) => signIn.start(context) },
    { method: 'GET', path: '/auth/provider/callback', handle: (context) => signIn.callback(context) },
  ]
}
