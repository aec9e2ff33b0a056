import { WireError } from '../../wire/error.ts'
import type { ExtensionLog } from '../extension.ts'
import type { CallbackParameters } from './identity-provider.ts'

/** Whom an answer must be from (RFC 9207 section 2.4). */
export interface ExpectedIssuer {
  /** Absent: nobody is told apart by it, and what the callback says is ignored. */
  readonly issuer?: string
  /** The provider has said that it names itself always. */
  readonly isPromised: boolean
}

/**
 * RFC 6749 section 4.1.2.1, OpenID Connect Core 1.0 section 3.1.2.6, and GitHub's own. Others are not repeated, not
 * even in the log.
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
 * The code in a callback. Nothing of the callback is repeated to anybody.
 *
 * @throws {WireError} in this order: it is not from whom it should be (400 `invalid_issuer`), it tells an error (403,
 *   400, 502), it has no code (400 `missing_code`)
 */
export function readCode(
  { iss, error, code }: CallbackParameters,
  { issuer, isPromised }: ExpectedIssuer,
  log: ExtensionLog,
): string {
  if (issuer !== undefined && (iss === undefined ? isPromised : iss !== issuer))
    throw invalidIssuer(log, iss === undefined ? 'iss_missing' : 'iss_of_another')
  if (error !== undefined) throw refusalOf(error, log)
  if (code === undefined || code === '')
    throw new WireError(400, 'invalid_request_error', 'missing_code', 'Missing code parameter')
  return code
}

/** The callback answers somebody else's request. */
export function invalidIssuer(log: ExtensionLog, reason: string): WireError {
  log.warn('a callback is not from the identity provider that was asked', { stage: 'callback', reason })
  return new WireError(
    400,
    'invalid_request_error',
    'invalid_issuer',
    'The answer is not from the identity provider that was asked',
    { advice: 'Sign in again.' },
  )
}

function refusalOf(error: string, log: ExtensionLog): WireError {
  if (error === 'access_denied') return new WireError(403, 'permission_error', 'access_denied', 'Access Denied')
  log.warn('the identity provider answers with an error', {
    stage: 'callback',
    reason: knownErrors.has(error) ? error : 'unknown',
  })
  if (error === 'server_error' || error === 'temporarily_unavailable') {
    return new WireError(
      502,
      'api_error',
      'identity_provider_unavailable',
      'The identity provider cannot be used at the moment',
      { advice: 'Try again in a while.' },
    )
  }
  return new WireError(
    400,
    'invalid_request_error',
    'identity_provider_error',
    'The identity provider did not let the sign-in go on',
    { advice: 'Sign in again. The log of the service says more.' },
  )
}
