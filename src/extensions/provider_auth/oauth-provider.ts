import * as oauth from 'oauth4webapi'
import { isRecord } from '../../wire/json-value.ts'
import type { Host } from '../extension.ts'
import { aboutUser, asking, readJson, readObject, type Ask, type TimeLimits } from './ask.ts'
import { authorizationRequest } from './authorization-request.ts'
import type { Identity, IdentityProvider } from './identity-provider.ts'
import { at, notConfigured, ProviderFailure, tellingFailures } from './provider-failure.ts'
import { isFitForSecrets } from './provider-url.ts'
import { readCode } from './read-callback.ts'
import type { Endpoints, Settings } from './settings.ts'
import { bearerToken, requestToken } from './token-request.ts'
import { readEmail, readIdentity } from './user-info.ts'

/** An identity provider that speaks OAuth 2.0 (RFC 6749) and tells about its users in a way of its own. */
export function oauthProvider(
  settings: Settings,
  endpoints: Endpoints & { readonly kind: 'oauth' },
  host: Host,
  limits: TimeLimits,
): IdentityProvider {
  const { client, redirectUri, displayName, userFields, allowsInsecureHttp, scope } = settings
  // Without an issuer there is still one server only, and one address that stands for it.
  const issuer = endpoints.issuer ?? endpoints.authorizeUrl
  const server: oauth.AuthorizationServer = {
    issuer,
    authorization_endpoint: endpoints.authorizeUrl,
    token_endpoint: endpoints.tokenUrl,
  }

  async function askUser(ask: Ask, token: string): Promise<Identity> {
    const answer = await readObject('user', await ask('user', endpoints.userUrl, aboutUser(token)))
    return at('user', () => readIdentity(answer, userFields, 'oauth'))
  }

  return {
    displayName,
    async begin(state) {
      if (client === undefined || redirectUri === undefined) throw notConfigured()
      return authorizationRequest(
        { endpoint: new URL(endpoints.authorizeUrl), clientId: client.id, redirectUri, state, hasNonce: false },
        settings,
      )
    },
    identify: (callback, secrets) =>
      tellingFailures(host.log, async () => {
        if (client === undefined || redirectUri === undefined) throw notConfigured()
        const code = readCode(
          callback,
          { isPromised: false, ...(endpoints.issuer === undefined ? {} : { issuer: endpoints.issuer }) },
          host.log,
        )
        const ask = asking(host, limits, (url) => isFitForSecrets(url, allowsInsecureHttp))
        const parties = { server, client: { client_id: client.id }, secret: client.secret, redirectUri }
        const answer = await requestToken(ask, parties, { state: callback.state, code }, secrets, settings)
        const tokens = await at('token', () =>
          oauth.processAuthorizationCodeResponse(
            server,
            parties.client,
            Response.json({ ...answer, id_token: undefined }),
          ),
        )
        const token = bearerToken(tokens)
        const identity = await askUser(ask, token)
        const mayAskEmails = identity.email === '' && /(?:^|[ ,])user(?::email)?(?:$|[ ,])/.test(tokens.scope ?? scope)
        const email =
          mayAskEmails && endpoints.emailsUrl !== undefined
            ? await askEmail(ask, endpoints.emailsUrl, token)
            : identity.email
        return { ...identity, email }
      }),
  }
}

/**
 * The address that somebody hides in their profile, where they let us ask (docs.github.com/rest/users/emails); empty
 * when it cannot be had, which is nobody's fault.
 */
async function askEmail(ask: Ask, url: string, token: string): Promise<string> {
  try {
    const response = await ask('emails', url, aboutUser(token))
    const list = response.status === 200 ? await readJson('emails', response) : undefined
    const primary = Array.isArray(list)
      ? list.filter(isRecord).find((each) => each['primary'] === true && each['verified'] === true)
      : undefined
    return readEmail(primary?.['email']) ?? ''
  } catch (error) {
    if (error instanceof ProviderFailure) return ''
    throw error
  }
}
