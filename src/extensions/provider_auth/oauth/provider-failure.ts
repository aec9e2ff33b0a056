import * as oauth from 'oauth4webapi'
import { isRecord } from '../../../base/json-value.ts'
import { invalidRequest, WireError } from '../../../formats/error.ts'
import type { ExtensionLog } from '../../extension.ts'
import { IdentityError } from './user-info.ts'

/** The step of a sign-in at which the identity provider failed. */
export type Stage = 'discovery' | 'callback' | 'token' | 'id_token' | 'user' | 'emails'

/** Class of a failure, which decides the client's error. */
export type FailureKind =
  /** The provider is unreachable, answers with an error, or its answer is invalid. */
  | 'unavailable'
  | 'timeout'
  /** The provider rejected the client id or secret. */
  | 'client_refused'
  /** The provider rejected the authorization code. */
  | 'code_refused'
  /** The user has no usable name under the member that the settings name. */
  | 'no_username'

/**
 * A request to the identity provider failed. The message names the stage and a reason; the reason is one of our codes
 * or a known error code, never other text from the provider.
 */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure'
  readonly stage: Stage
  readonly kind: FailureKind
  readonly reason: string
  constructor(stage: Stage, kind: FailureKind, reason: string, cause?: unknown) {
    super(`${stage}: ${reason}`, cause === undefined ? undefined : { cause })
    this.stage = stage
    this.kind = kind
    this.reason = reason
  }
}

/** Names of claims that `oauth4webapi` reports and that may be logged. */
const knownClaims: readonly unknown[] = ['iss', 'aud', 'azp', 'exp', 'nbf', 'nonce', 'sub', 'auth_time', 'issuer']

/**
 * Runs one stage, and turns any error into a {@link ProviderFailure}. The error itself is not kept as the cause, since
 * the library's errors hold tokens and codes.
 */
export async function inStage<Value>(stage: Stage, action: () => Promise<Value> | Value): Promise<Value> {
  try {
    return await action()
  } catch (error) {
    if (error instanceof ProviderFailure) throw error
    if (error instanceof IdentityError && error.members !== undefined)
      throw new ProviderFailure(stage, 'no_username', error.members)
    throw new ProviderFailure(stage, 'unavailable', error instanceof IdentityError ? error.reason : reasonOf(error))
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError))
    return error instanceof Error ? error.name : 'unknown'
  const { code = error.name, cause } = error
  const about = isRecord(cause)
    ? [cause['claim'], cause['attribute']].find((name) => knownClaims.includes(name))
    : undefined
  return about === undefined ? code : `${code} (${String(about)})`
}

/**
 * Runs a step of a sign-in, logs a {@link ProviderFailure} with stage and reason, and turns it into the client's error.
 */
export async function withWireErrors<Value>(log: ExtensionLog, action: () => Promise<Value>): Promise<Value> {
  try {
    return await action()
  } catch (error) {
    throw error instanceof ProviderFailure ? logAndConvert(error, log) : error
  }
}

function logAndConvert({ stage, kind, reason, cause }: ProviderFailure, log: ExtensionLog): WireError {
  const fields = { stage, reason, ...(cause instanceof Error ? { error: cause } : {}) }
  switch (kind) {
    case 'client_refused':
      log.error('the identity provider rejected client_id or client_secret', fields)
      return notConfigured()
    case 'code_refused':
      log.warn('the identity provider rejected the authorization code', fields)
      return new WireError(
        400,
        'invalid_request_error',
        'oauth_exchange_failed',
        'The identity provider did not accept the sign-in',
        { advice: 'Sign in again.' },
      )
    case 'no_username':
      log.warn('the identity provider gave no user name: set "user_fields": {"username": …} to another member', fields)
      return new WireError(502, 'api_error', 'no_username', 'The identity provider gave no user name', {
        advice: 'The owner of this service must set user_fields; its log names the members that came.',
      })
    case 'timeout':
      log.warn('the identity provider timed out', fields)
      return new WireError(
        504,
        'api_error',
        'identity_provider_unavailable',
        'The identity provider did not answer in time',
        { advice: tryLater },
      )
    case 'unavailable':
      log.warn('the identity provider failed', fields)
      return new WireError(
        502,
        'api_error',
        'identity_provider_unavailable',
        'The identity provider is not available',
        { advice: tryLater },
      )
  }
}

/** As {@link withWireErrors}, in words for an owner who sets sign-in up. Nothing is logged. */
export async function withOwnersWords(displayName: string, action: () => Promise<void>): Promise<void> {
  try {
    await action()
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error
    throw error.kind === 'client_refused'
      ? invalidRequest('invalid_value', `${displayName} refuses the client id or the client secret.`, 'clientSecret')
      : invalidRequest(
          'invalid_value',
          `${displayName} does not answer as an identity provider should (${error.stage}: ${error.reason}).`,
          'place',
        )
  }
}

const tryLater = 'Try again later; see the service log for the cause.'

/** 500: client id or secret is missing or wrong, so that sign-in is impossible (docs/sign-in.md). */
export function notConfigured(): WireError {
  return new WireError(500, 'api_error', 'oauth_not_configured', 'Provider OAuth not configured', {
    advice:
      'The owner must set client_id and client_secret to the values from the identity provider; see the service log.',
  })
}
