import * as oauth from 'oauth4webapi'
import type { Settings } from '../settings/settings.ts'
import type { FlowSecrets } from './identity-provider.ts'

/** Parameters of an authorization request (RFC 6749 section 4.1.1). */
export interface AuthorizationRequest {
  readonly endpoint: URL
  readonly clientId: string
  readonly redirectUri: string
  readonly state: string
  readonly hasNonce: boolean
  /** The provider shows its choice of accounts (OpenID Connect Core 1.0 section 3.1.2.1). */
  readonly asksWho: boolean
}

/**
 * Builds the URL to redirect a browser to. Adds a new PKCE challenge with S256 (RFC 7636) and, with `hasNonce`, a new
 * nonce.
 */
export async function authorizationRequest(
  { endpoint, clientId, redirectUri, state, hasNonce, asksWho }: AuthorizationRequest,
  { scope, hasPkce }: Pick<Settings, 'scope' | 'hasPkce'>,
): Promise<{ readonly url: string; readonly secrets: FlowSecrets }> {
  const url = new URL(endpoint)
  const codeVerifier = hasPkce ? oauth.generateRandomCodeVerifier() : undefined
  const nonce = hasNonce ? oauth.generateRandomNonce() : undefined
  url.searchParams.set('response_type', 'code')
  url.searchParams.set('client_id', clientId)
  url.searchParams.set('redirect_uri', redirectUri)
  if (scope !== '') url.searchParams.set('scope', scope)
  url.searchParams.set('state', state)
  if (asksWho) url.searchParams.set('prompt', 'select_account')
  if (codeVerifier !== undefined) {
    url.searchParams.set('code_challenge', await oauth.calculatePKCECodeChallenge(codeVerifier))
    url.searchParams.set('code_challenge_method', 'S256')
  }
  if (nonce !== undefined) url.searchParams.set('nonce', nonce)
  return {
    url: url.href,
    secrets: { ...(codeVerifier === undefined ? {} : { codeVerifier }), ...(nonce === undefined ? {} : { nonce }) },
  }
}
