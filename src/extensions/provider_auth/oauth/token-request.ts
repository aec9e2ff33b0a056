import * as oauth from 'oauth4webapi'
import { isRecord } from '../../../base/json-value.ts'
import type { Settings } from '../settings/settings.ts'
import type { CallbackParameters, FlowSecrets } from './identity-provider.ts'
import { inStage, ProviderFailure } from './provider-failure.ts'
import { libraryFetch, readJsonBody, userAgent, type SendRequest } from './provider-request.ts'

/** Size limit of a token response. */
const bytesMax = 64 * 1024

/** Server and client of a token request, in the types of `oauth4webapi`. */
export interface Parties {
  readonly server: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly secret: string
  readonly redirectUri: string
}

/** A callback with a code. */
export type CodeCallback = Pick<CallbackParameters, 'state' | 'iss'> & { readonly code: string }

/**
 * The members of a token response that are used. Other members are dropped, because some servers send invalid `null`s.
 */
export interface TokenResponse {
  readonly access_token: unknown
  readonly token_type: unknown
  readonly id_token: unknown
  readonly scope: string | undefined
}

/**
 * RFC 6749 section 5.2, and GitHub's own
 * (docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors). Other
 * codes are logged as `unknown_error`.
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
const temporaryErrors: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable'])

/**
 * Exchanges an authorization code for tokens (RFC 6749 section 4.1.3). The caller validates the tokens.
 *
 * @param callback with `iss` and `error` already checked
 * @throws {ProviderFailure}
 */
export async function requestToken(
  send: SendRequest,
  { server, client, secret, redirectUri }: Parties,
  { state, code, iss }: CodeCallback,
  { codeVerifier }: FlowSecrets,
  { tokenAuthMethod }: Pick<Settings, 'tokenAuthMethod'>,
): Promise<TokenResponse> {
  return inStage('token', async () => {
    const parameters = oauth.validateAuthResponse(
      server,
      client,
      new URLSearchParams({ state, code, ...(iss === undefined ? {} : { iss }) }),
      state,
    )
    const authentication =
      tokenAuthMethod === 'client_secret_basic' ? secretInHeader(secret) : oauth.ClientSecretPost(secret)
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      parameters,
      redirectUri,
      codeVerifier ?? oauth.nopkce,
      {
        [oauth.customFetch]: libraryFetch(send, 'token', bytesMax),
        // `send` checks each URL.
        [oauth.allowInsecureRequests]: true,
        headers: { 'user-agent': userAgent },
      },
    )
    return readTokens(response)
  })
}

/** Codes that say without doubt that id or secret are wrong: Gitea answers `unauthorized_client` to a wrong code. */
const sureRefusals: ReadonlySet<string> = new Set(['invalid_client', 'incorrect_client_credentials'])
/** Reasons without an answer of the token endpoint. */
const noAnswers: ReadonlySet<string> = new Set(['network', 'timeout', 'url_not_allowed'])

/**
 * Finds out by a code that was not given to anyone whether the token endpoint takes the client's credentials. What it
 * says of the code does not matter.
 *
 * @throws {ProviderFailure} if it refuses the client, or does not answer
 */
export async function probeClient(
  send: SendRequest,
  parties: Parties,
  settings: Pick<Settings, 'tokenAuthMethod' | 'hasPkce'>,
): Promise<void> {
  const callback = { state: 'probe', code: 'svc-asks-whether-its-client-is-known', iss: parties.server.issuer }
  const secrets = settings.hasPkce ? { codeVerifier: oauth.generateRandomCodeVerifier() } : {}
  try {
    await requestToken(send, parties, callback, secrets, settings)
  } catch (error) {
    if (!(error instanceof ProviderFailure) || sureRefusals.has(error.reason) || noAnswers.has(error.reason))
      throw error
  }
}

/**
 * `client_secret_basic` (RFC 6749 section 2.3.1), with id and secret form-encoded (appendix B): `*-._` stay as they
 * are, a space becomes `+`. `oauth.ClientSecretBasic` encodes `-._` too, which fails at servers that do not decode.
 */
function secretInHeader(secret: string): oauth.ClientAuth {
  return (_server, client, _body, headers) => {
    headers.set('authorization', `Basic ${btoa(`${formEncoded(client.client_id)}:${formEncoded(secret)}`)}`)
  }
}

function formEncoded(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1)
}

async function readTokens(response: Response): Promise<TokenResponse> {
  const { status } = response
  const mayHoldError = status === 200 || (status >= 400 && status < 500 && status !== 408 && status !== 429)
  if (!mayHoldError) throw new ProviderFailure('token', 'unavailable', `status_${status}`)
  const body = await readJsonBody('token', response)
  if (!isRecord(body)) throw new ProviderFailure('token', 'unavailable', 'not_an_object')
  const { error, access_token, token_type, id_token, scope } = body
  // GitHub sends errors with status 200.
  if (typeof error === 'string' && error !== '') throw failureOf(error)
  if (status !== 200) throw new ProviderFailure('token', 'unavailable', `status_${status}`)
  return {
    access_token,
    token_type,
    id_token: id_token ?? undefined,
    scope: typeof scope === 'string' ? scope : undefined,
  }
}

function failureOf(error: string): ProviderFailure {
  if (clientErrors.has(error)) return new ProviderFailure('token', 'client_refused', error)
  if (temporaryErrors.has(error)) return new ProviderFailure('token', 'unavailable', error)
  return new ProviderFailure('token', 'code_refused', codeErrors.has(error) ? error : 'unknown_error')
}

/** The access token, if it is a bearer token with valid characters (RFC 6750 section 2.1). @throws {ProviderFailure} */
export function bearerToken({ access_token, token_type }: oauth.TokenEndpointResponse): string {
  if (token_type !== 'bearer') throw new ProviderFailure('token', 'unavailable', 'no_bearer_token')
  if (!/^[\u0021-\u007e]{1,16384}$/.test(access_token))
    throw new ProviderFailure('token', 'unavailable', 'no_usable_token')
  return access_token
}
