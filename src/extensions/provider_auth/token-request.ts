import * as oauth from 'oauth4webapi'
import { isRecord } from '../../wire/json-value.ts'
import { fetchThrough, readJson, userAgent, type Ask } from './ask.ts'
import type { CallbackParameters, FlowSecrets } from './identity-provider.ts'
import { at, ProviderFailure } from './provider-failure.ts'
import type { Settings } from './settings.ts'

/** Most bytes of an answer that holds tokens. */
const bytesMax = 64 * 1024

/** Both sides of the exchange, as `oauth4webapi` knows them. */
export interface Parties {
  readonly server: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly secret: string
  readonly redirectUri: string
}

/** A callback that has a code. */
export type CodeCallback = Pick<CallbackParameters, 'state' | 'iss'> & { readonly code: string }

/**
 * The members that count of an answer with tokens. Some servers fill others with `null`, which their definitions do not
 * allow.
 */
export interface TokenAnswer {
  readonly access_token: unknown
  readonly token_type: unknown
  readonly id_token: unknown
  readonly scope: string | undefined
}

/**
 * RFC 6749 section 5.2, and GitHub's own
 * (docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors).
 * Others are not repeated in the log.
 */
const codeErrors: ReadonlySet<string> = new Set([
  'invalid_grant',
  'invalid_request',
  'unsupported_grant_type',
  'invalid_scope',
  'bad_verification_code',
  'redirect_uri_mismatch',
  'unverified_user_email',
  'application_suspended',
  'slow_down',
])
const clientErrors: ReadonlySet<string> = new Set([
  'invalid_client',
  'unauthorized_client',
  'incorrect_client_credentials',
])
const passingErrors: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable'])

/**
 * Asks for the token that a code stands for (RFC 6749 section 4.1.3). What a successful answer holds is still to be
 * checked.
 *
 * @param callback Its `iss` and `error` have been looked at
 * @throws {ProviderFailure}
 */
export async function requestToken(
  ask: Ask,
  { server, client, secret, redirectUri }: Parties,
  { state, code, iss }: CodeCallback,
  { codeVerifier }: FlowSecrets,
  { tokenAuthMethod }: Pick<Settings, 'tokenAuthMethod'>,
): Promise<TokenAnswer> {
  return at('token', async () => {
    const parameters = oauth.validateAuthResponse(
      server,
      client,
      new URLSearchParams({ state, code, ...(iss === undefined ? {} : { iss }) }),
      state,
    )
    const authentication =
      tokenAuthMethod === 'client_secret_basic' ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret)
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      parameters,
      redirectUri,
      codeVerifier ?? oauth.nopkce,
      {
        [oauth.customFetch]: fetchThrough(ask, 'token', bytesMax),
        // Each address is looked at by `ask`.
        [oauth.allowInsecureRequests]: true,
        headers: { 'user-agent': userAgent },
      },
    )
    return readTokens(response)
  })
}

async function readTokens(response: Response): Promise<TokenAnswer> {
  const { status } = response
  const mayTellError = status === 200 || (status >= 400 && status < 500 && status !== 408 && status !== 429)
  if (!mayTellError) throw new ProviderFailure('token', 'unavailable', `status_${status}`)
  const answer = await readJson('token', response)
  if (!isRecord(answer)) throw new ProviderFailure('token', 'unavailable', 'no_object')
  const { error, access_token, token_type, id_token, scope } = answer
  // GitHub tells errors with status 200.
  if (typeof error === 'string' && error !== '') throw refusalOf(error)
  if (status !== 200) throw new ProviderFailure('token', 'unavailable', `status_${status}`)
  return {
    access_token,
    token_type,
    id_token: id_token ?? undefined,
    scope: typeof scope === 'string' ? scope : undefined,
  }
}

function refusalOf(error: string): ProviderFailure {
  if (clientErrors.has(error)) return new ProviderFailure('token', 'client_refused', error)
  if (passingErrors.has(error)) return new ProviderFailure('token', 'unavailable', error)
  return new ProviderFailure('token', 'code_refused', codeErrors.has(error) ? error : 'unknown_error')
}

/** An access token that can be shown again as it is (RFC 6750 section 2.1). @throws {ProviderFailure} */
export function bearerToken({ access_token, token_type }: oauth.TokenEndpointResponse): string {
  if (token_type !== 'bearer') throw new ProviderFailure('token', 'unavailable', 'no_bearer_token')
  if (!/^[\u0021-\u007e]{1,16384}$/.test(access_token))
    throw new ProviderFailure('token', 'unavailable', 'no_usable_token')
  return access_token
}
