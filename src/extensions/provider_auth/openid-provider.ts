import * as oauth from 'oauth4webapi'
import type { JsonObject } from '../../wire/json-value.ts'
import type { Host } from '../extension.ts'
import {
  aboutUser,
  answerBytesMax,
  asking,
  fetchThrough,
  readObject,
  userAgent,
  type Ask,
  type TimeLimits,
} from './ask.ts'
import { authorizationRequest } from './authorization-request.ts'
import { discovery } from './discovery.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { at, notConfigured, ProviderFailure, tellingFailures } from './provider-failure.ts'
import { isFitForSecrets, isLoopback } from './provider-url.ts'
import { invalidIssuer, readCode } from './read-callback.ts'
import type { Settings, UserFields } from './settings.ts'
import { bearerToken, requestToken, type Parties, type TokenAnswer } from './token-request.ts'
import { readIdentity } from './user-info.ts'

/** An identity provider that speaks OpenID Connect (Core 1.0), found through its issuer. */
export function openidProvider(settings: Settings, issuer: string, host: Host, limits: TimeLimits): IdentityProvider {
  const { client, redirectUri, displayName, userFields, allowsInsecureHttp } = settings
  // A provider elsewhere does not send us to a server on this machine.
  const isHere = isLoopback(new URL(issuer))
  const isPlain = new URL(issuer).protocol === 'http:'
  const isFit = (url: URL): boolean =>
    isFitForSecrets(url, allowsInsecureHttp) &&
    (url.protocol === 'https:' || isPlain || allowsInsecureHttp) &&
    (isHere || !isLoopback(url))
  const serverOf = discovery(issuer, isFit, host)

  return {
    displayName,
    begin: (state) =>
      tellingFailures(host.log, async () => {
        if (client === undefined || redirectUri === undefined) throw notConfigured()
        const { authorization_endpoint } = await serverOf(asking(host, limits, isFit))
        return authorizationRequest(
          { endpoint: new URL(authorization_endpoint), clientId: client.id, redirectUri, state, hasNonce: true },
          settings,
        )
      }),
    identify: (callback, secrets) =>
      tellingFailures(host.log, async () => {
        if (client === undefined || redirectUri === undefined) throw notConfigured()
        const { nonce } = secrets
        if (nonce === undefined) throw invalidIssuer(host.log, 'nonce_missing')
        const ask = asking(host, limits, isFit)
        const server = await serverOf(ask)
        const code = readCode(
          callback,
          { issuer: server.issuer, isPromised: server.authorization_response_iss_parameter_supported === true },
          host.log,
        )
        // The library's clock is `Date.now`, ours is the host's.
        const parties: Parties = {
          server,
          client: { client_id: client.id, [oauth.clockSkew]: (host.now() - Date.now()) / 1000 },
          secret: client.secret,
          redirectUri,
        }
        const answer = await requestToken(ask, parties, { ...callback, code }, secrets, settings)
        const { token, claims } = await checkTokens(ask, parties, answer, nonce)
        const told =
          typeof server.userinfo_endpoint === 'string'
            ? await askUser(ask, parties, server.userinfo_endpoint, { token, claims })
            : claims
        return at('user', () => readIdentity(naming(userFields, told, claims), userFields, 'openid'))
      }),
  }
}

interface CheckedTokens {
  /** The access token. */
  readonly token: string
  /** Of the id_token. */
  readonly claims: oauth.IDToken
}

/**
 * Looks at an id_token: of this issuer, for us, in time, for this sign-in, signed (OpenID Connect Core 1.0 section
 * 3.1.3.7).
 */
async function checkTokens(
  ask: Ask,
  { server, client }: Parties,
  answer: TokenAnswer,
  expectedNonce: string,
): Promise<CheckedTokens> {
  return at('id_token', async () => {
    const response = Response.json(answer)
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce,
      requireIdToken: true,
    })
    // It came over TLS from where it should; by its signature it counts where plain http was allowed too. The library keeps the keys with the server, for five minutes.
    await oauth.validateApplicationLevelSignature(server, response, {
      [oauth.customFetch]: fetchThrough(ask, 'id_token', answerBytesMax),
      [oauth.allowInsecureRequests]: true,
      headers: { 'user-agent': userAgent },
    })
    const claims = oauth.getValidatedIdTokenClaims(tokens)
    if (claims === undefined) throw new ProviderFailure('id_token', 'unavailable', 'no_id_token')
    return { token: bearerToken(tokens), claims }
  })
}

/** What the userinfo endpoint tells, of the same person as the id_token (OpenID Connect Core 1.0 section 5.3.4). */
async function askUser(
  ask: Ask,
  { server, client }: Parties,
  url: string,
  { token, claims }: CheckedTokens,
): Promise<JsonObject> {
  const answer = await readObject('user', await ask('user', url, aboutUser(token)))
  return at('user', () => oauth.processUserInfoResponse(server, client, claims.sub, Response.json(answer)))
}

/**
 * Some userinfo endpoints tell the `sub` alone, and leave the rest to the id_token. The one that has the user name is
 * taken as a whole, so that no e-mail address meets another's verification.
 */
function naming({ username }: UserFields, told: JsonObject, claims: JsonObject): JsonObject {
  return Object.hasOwn(told, username) ? told : claims
}
