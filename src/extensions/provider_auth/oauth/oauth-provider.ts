import * as oauth from 'oauth4webapi'
import { isRecord } from '../../../base/json-value.ts'
import type { Host } from '../../extension.ts'
import type { Endpoints, Settings } from '../settings/settings.ts'
import { authorizationRequest } from './authorization-request.ts'
import type { Identity, IdentityProvider } from './identity-provider.ts'
import { inStage, notConfigured, ProviderFailure, withOwnersWords, withWireErrors } from './provider-failure.ts'
import {
  readJsonBody,
  readJsonObject,
  requestSender,
  userRequest,
  type SendRequest,
  type TimeLimits,
} from './provider-request.ts'
import { isAllowedUrl } from './provider-url.ts'
import { readCode } from './read-callback.ts'
import { bearerToken, probeClient, requestToken } from './token-request.ts'
import { readEmail, readIdentity } from './user-info.ts'

/** An OAuth 2.0 provider (RFC 6749) with a user endpoint whose members `userFields` names. */
export function oauthProvider(
  settings: Settings,
  endpoints: Endpoints & { readonly kind: 'oauth' },
  host: Host,
  limits: TimeLimits,
): IdentityProvider {
  const { client, redirectUri, displayName, userFields, allowsInsecureHttp, scope } = settings
  // The library requires an issuer; the authorization URL identifies the server as well.
  const issuer = endpoints.issuer ?? endpoints.authorizeUrl
  const server: oauth.AuthorizationServer = {
    issuer,
    authorization_endpoint: endpoints.authorizeUrl,
    token_endpoint: endpoints.tokenUrl,
  }

  async function fetchUser(send: SendRequest, token: string): Promise<Identity> {
    const user = await readJsonObject('user', await send('user', endpoints.userUrl, userRequest(token)))
    return inStage('user', () => readIdentity(user, userFields, 'oauth'))
  }

  return {
    displayName,
    async begin(state, asksWho = false) {
      if (client === undefined || redirectUri === undefined) throw notConfigured()
      return authorizationRequest(
        {
          ...{ endpoint: new URL(endpoints.authorizeUrl), clientId: client.id, redirectUri, state, hasNonce: false },
          // Other servers without OpenID Connect may refuse it.
          asksWho: asksWho && new URL(endpoints.authorizeUrl).hostname === 'github.com',
        },
        settings,
      )
    },
    identify: (callback, secrets) =>
      withWireErrors(host.log, async () => {
        if (client === undefined || redirectUri === undefined) throw notConfigured()
        const code = readCode(
          callback,
          { isRequired: false, ...(endpoints.issuer === undefined ? {} : { issuer: endpoints.issuer }) },
          host.log,
        )
        const send = requestSender(host, limits, (url) => isAllowedUrl(url, allowsInsecureHttp))
        const parties = { server, client: { client_id: client.id }, secret: client.secret, redirectUri }
        const response = await requestToken(send, parties, { state: callback.state, code }, secrets, settings)
        const tokens = await inStage('token', () =>
          oauth.processAuthorizationCodeResponse(
            server,
            parties.client,
            Response.json({ ...response, id_token: undefined }),
          ),
        )
        const token = bearerToken(tokens)
        const identity = await fetchUser(send, token)
        const hasEmailScope = identity.email === '' && /(?:^|[ ,])user(?::email)?(?:$|[ ,])/.test(tokens.scope ?? scope)
        const email =
          hasEmailScope && endpoints.emailsUrl !== undefined
            ? await fetchEmail(send, endpoints.emailsUrl, token)
            : identity.email
        return { ...identity, email }
      }),
    probe: () =>
      withOwnersWords(displayName, async () => {
        if (client === undefined || redirectUri === undefined) throw notConfigured()
        const send = requestSender(host, limits, (url) => isAllowedUrl(url, allowsInsecureHttp))
        await probeClient(
          send,
          { server, client: { client_id: client.id }, secret: client.secret, redirectUri },
          settings,
        )
      }),
  }
}

/**
 * Requests the primary e-mail address of a user whose profile hides it (docs.github.com/rest/users/emails); empty if
 * the request fails, which does not fail the sign-in.
 */
async function fetchEmail(send: SendRequest, url: string, token: string): Promise<string> {
  try {
    const response = await send('emails', url, userRequest(token))
    const list = response.status === 200 ? await readJsonBody('emails', response) : undefined
    const primary = Array.isArray(list)
      ? list.filter(isRecord).find((each) => each['primary'] === true && each['verified'] === true)
      : undefined
    return readEmail(primary?.['email']) ?? ''
  } catch (error) {
    if (error instanceof ProviderFailure) return ''
    throw error
  }
}
