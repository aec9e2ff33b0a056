import * as oauth from 'oauth4webapi'
import type { JsonObject } from '../../../base/json-value.ts'
import { isThisMachine } from '../../../base/this-machine.ts'
import type { Host } from '../../extension.ts'
import type { Settings, UserFields } from '../settings/settings.ts'
import { authorizationRequest } from './authorization-request.ts'
import { discovery } from './discovery.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { inStage, notConfigured, ProviderFailure, withOwnersWords, withWireErrors } from './provider-failure.ts'
import {
  libraryFetch,
  readJsonObject,
  requestSender,
  responseBytesMax,
  userAgent,
  userRequest,
  type SendRequest,
  type TimeLimits,
} from './provider-request.ts'
import { isAllowedUrl } from './provider-url.ts'
import { invalidIssuer, readCode } from './read-callback.ts'
import { bearerToken, probeClient, requestToken, type Parties, type TokenResponse } from './token-request.ts'
import { readIdentity } from './user-info.ts'

/** An OpenID Connect provider (Core 1.0), whose endpoints are discovered from its issuer. */
export function openidProvider(settings: Settings, issuer: string, host: Host, limits: TimeLimits): IdentityProvider {
  const { client, redirectUri, displayName, userFields, allowsInsecureHttp } = settings
  // The discovery document of a remote provider must not make svc send requests to servers on this machine.
  const isLocal = isThisMachine(new URL(issuer).hostname)
  const isPlainHttp = new URL(issuer).protocol === 'http:'
  const isAllowed = (url: URL): boolean =>
    isAllowedUrl(url, allowsInsecureHttp) &&
    (url.protocol === 'https:' || isPlainHttp || allowsInsecureHttp) &&
    (isLocal || !isThisMachine(url.hostname))
  const discover = discovery(issuer, isAllowed, host)

  return {
    displayName,
    begin: (state, asksWho = false) =>
      withWireErrors(host.log, async () => {
        if (client === undefined || redirectUri === undefined) throw notConfigured()
        const { authorization_endpoint } = await discover(requestSender(host, limits, isAllowed))
        return authorizationRequest(
          {
            endpoint: new URL(authorization_endpoint),
            clientId: client.id,
            redirectUri,
            state,
            hasNonce: true,
            asksWho,
          },
          settings,
        )
      }),
    identify: (callback, secrets) =>
      withWireErrors(host.log, async () => {
        if (client === undefined || redirectUri === undefined) throw notConfigured()
        const { nonce } = secrets
        if (nonce === undefined) throw invalidIssuer(host.log, 'nonce_missing')
        const send = requestSender(host, limits, isAllowed)
        const server = await discover(send)
        const code = readCode(
          callback,
          { issuer: server.issuer, isRequired: server.authorization_response_iss_parameter_supported === true },
          host.log,
        )
        // The library reads `Date.now`; the skew makes it follow the host's clock.
        const parties: Parties = {
          server,
          client: { client_id: client.id, [oauth.clockSkew]: (host.now() - Date.now()) / 1000 },
          secret: client.secret,
          redirectUri,
        }
        const response = await requestToken(send, parties, { ...callback, code }, secrets, settings)
        const { token, claims } = await checkTokens(send, parties, response, nonce)
        const userInfo =
          typeof server.userinfo_endpoint === 'string'
            ? await fetchUserInfo(send, parties, server.userinfo_endpoint, { token, claims })
            : claims
        const selected = selectClaims(userFields, userInfo, claims)
        return inStage('user', () => readIdentity(selected, userFields, 'openid', { ...claims, ...userInfo }))
      }),
    probe: () =>
      withOwnersWords(displayName, async () => {
        if (client === undefined || redirectUri === undefined) throw notConfigured()
        const send = requestSender(host, limits, isAllowed)
        const server = await discover(send)
        await probeClient(
          send,
          { server, client: { client_id: client.id }, secret: client.secret, redirectUri },
          settings,
        )
      }),
  }
}

interface CheckedTokens {
  /** The access token. */
  readonly token: string
  /** Claims of the id_token. */
  readonly claims: oauth.IDToken
}

/**
 * Validates the id_token of a token response: issuer, audience, times, nonce and signature (OpenID Connect Core 1.0
 * section 3.1.3.7).
 */
async function checkTokens(
  send: SendRequest,
  { server, client }: Parties,
  tokenResponse: TokenResponse,
  expectedNonce: string,
): Promise<CheckedTokens> {
  return inStage('id_token', async () => {
    const response = Response.json(tokenResponse)
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce,
      requireIdToken: true,
    })
    // Needed where plain http is allowed; over https, TLS has authenticated the issuer already. The library caches the
    // keys with the server object for five minutes.
    await oauth.validateApplicationLevelSignature(server, response, {
      [oauth.customFetch]: libraryFetch(send, 'id_token', responseBytesMax),
      [oauth.allowInsecureRequests]: true,
      headers: { 'user-agent': userAgent },
    })
    const claims = oauth.getValidatedIdTokenClaims(tokens)
    if (claims === undefined) throw new ProviderFailure('id_token', 'unavailable', 'no_id_token')
    return { token: bearerToken(tokens), claims }
  })
}

/** Statuses of userinfo endpoints that do not serve the client: the id_token alone says who signs in. */
const refusedStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405, 406, 501])

/**
 * Requests the claims of the userinfo endpoint, and checks that their `sub` is that of the id_token (OpenID Connect
 * Core 1.0 section 5.3.4). Where the endpoint refuses, or signs its answer, those of the id_token serve, which has been
 * validated.
 */
async function fetchUserInfo(
  send: SendRequest,
  { server, client }: Parties,
  url: string,
  { token, claims }: CheckedTokens,
): Promise<JsonObject> {
  const response = await send('user', url, userRequest(token))
  const isSigned = response.headers.get('content-type')?.toLowerCase().startsWith('application/jwt') === true
  if (refusedStatuses.has(response.status) || (response.status === 200 && isSigned)) {
    await response.body?.cancel()
    return claims
  }
  const userInfo = await readJsonObject('user', response)
  return inStage('user', () => oauth.processUserInfoResponse(server, client, claims.sub, Response.json(userInfo)))
}

/**
 * Selects the claims that hold the user name: those of the userinfo endpoint, or those of the id_token where userinfo
 * has only `sub`. The two are never merged, so that `email` and `email_verified` come from one source.
 */
function selectClaims({ username }: UserFields, userInfo: JsonObject, idTokenClaims: JsonObject): JsonObject {
  return Object.hasOwn(userInfo, username) ? userInfo : idTokenClaims
}
