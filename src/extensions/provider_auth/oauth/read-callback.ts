import { WireError } from '../../../formats/error.ts'
import type { ExtensionLog } from '../../extension.ts'
import { accessDenied } from '../responses.ts'
import type { CallbackParameters } from './identity-provider.ts'

/** The issuer that a callback must come from (RFC 9207 section 2.4). */
export interface ExpectedIssuer {
  /** Absent if unknown; the callback's `iss` is then ignored. */
  readonly issuer?: string
  /** Whether the provider has announced that it always sends `iss`. */
  readonly isRequired: boolean
}

/**
 * RFC 6749 section 4.1.2.1, OpenID Connect Core 1.0 section 3.1.2.6, and GitHub's own. Others are logged as `unknown`.
 */
const knownErrors: ReadonlySet<string> = new Set([
  'invalid_request',
  'unauthorized_client',
  'access_denied',
  'unsupported_response_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'interaction_required',
  'login_required',
  'account_selection_required',
  'consent_required',
  'application_suspended',
  'redirect_uri_mismatch',
])

/**
 * Reads the authorization code of a callback. Errors repeat nothing of the callback.
 *
 * @throws {WireError} checked in this order: unexpected issuer (400 `invalid_issuer`), error from the provider (403,
 *   400, 502), no code (400 `missing_code`)
 */
export function readCode(
  { iss, error, code }: CallbackParameters,
  { issuer, isRequired }: ExpectedIssuer,
  log: ExtensionLog,
): string {
  if (issuer !== undefined && (iss === undefined ? isRequired : iss !== issuer))
    throw invalidIssuer(log, iss === undefined ? 'iss_missing' : 'iss_unexpected')
  if (error !== undefined) throw providerError(error, log)
  if (code === undefined || code === '')
    throw new WireError(400, 'invalid_request_error', 'missing_code', 'Missing code parameter')
  return code
}

/** 400: the callback does not come from the expected identity provider. */
export function invalidIssuer(log: ExtensionLog, reason: string): WireError {
  log.warn('the callback is not from the configured identity provider', { stage: 'callback', reason })
  return new WireError(
    400,
    'invalid_request_error',
    'invalid_issuer',
    'The callback is not from the configured identity provider',
    { advice: 'Sign in again.' },
  )
}

function providerError(error: string, log: ExtensionLog): WireError {
  if (error === 'access_denied') return accessDenied()
  log.warn('the identity provider returned an error', {
    stage: 'callback',
    reason: knownErrors.has(error) ? error : 'unknown',
  })
  if (error === 'server_error' || error === 'temporarily_unavailable') {
    return new WireError(502, 'api_error', 'identity_provider_unavailable', 'The identity provider is not available', {
      advice: 'Try again later.',
    })
  }
  return new WireError(
    400,
    'invalid_request_error',
    'identity_provider_error',
    'The identity provider refused the sign-in',
    { advice: 'Sign in again; see the service log for the cause.' },
  )
}
