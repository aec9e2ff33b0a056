import * as oauth from 'oauth4webapi'
import { WireError } from '../../wire/error.ts'
import { isRecord } from '../../wire/json-value.ts'
import type { ExtensionLog } from '../extension.ts'
import { NoIdentity } from './user-info.ts'

/** Where in a sign-in the identity provider was. */
export type Stage = 'discovery' | 'callback' | 'token' | 'id_token' | 'user' | 'emails'

/** What it means for the person who signs in. */
export type FailureKind =
  /** It cannot be reached, is not well, or makes no sense. */
  | 'unavailable'
  | 'timeout'
  /** It takes our client id or secret for wrong. */
  | 'client_refused'
  /** It takes the code for wrong. */
  | 'code_refused'

/**
 * The identity provider did not do its part. Its message names the stage and a class of failure, and holds nothing that
 * came from outside but known codes.
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

/** What `oauth4webapi` was looking at when it was not content. */
const knownClaims: readonly unknown[] = ['iss', 'aud', 'azp', 'exp', 'nbf', 'nonce', 'sub', 'auth_time', 'issuer']

/**
 * Runs one stage. Whatever is thrown in it is a failure of the identity provider's answer, and is told without the
 * answer: the library's errors hold tokens and codes.
 */
export async function at<Value>(stage: Stage, action: () => Promise<Value> | Value): Promise<Value> {
  try {
    return await action()
  } catch (error) {
    if (error instanceof ProviderFailure) throw error
    throw new ProviderFailure(stage, 'unavailable', error instanceof NoIdentity ? error.reason : classOf(error))
  }
}

function classOf(error: unknown): string {
  if (!(error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError))
    return error instanceof Error ? error.name : 'unknown'
  const { code = error.name, cause } = error
  const about = isRecord(cause)
    ? [cause['claim'], cause['attribute']].find((name) => knownClaims.includes(name))
    : undefined
  return about === undefined ? code : `${code} (${String(about)})`
}

/**
 * Runs a part of a sign-in, and tells its failures: to the person what is for them, to the log where it was and of
 * which class.
 */
export async function tellingFailures<Value>(log: ExtensionLog, action: () => Promise<Value>): Promise<Value> {
  try {
    return await action()
  } catch (error) {
    throw error instanceof ProviderFailure ? tell(error, log) : error
  }
}

function tell({ stage, kind, reason, cause }: ProviderFailure, log: ExtensionLog): WireError {
  const fields = { stage, reason, ...(cause instanceof Error ? { error: cause } : {}) }
  switch (kind) {
    case 'client_refused':
      log.error('the identity provider refuses client_id or client_secret', fields)
      return notConfigured()
    case 'code_refused':
      log.warn('the identity provider refuses the code of a sign-in', fields)
      return new WireError(
        400,
        'invalid_request_error',
        'oauth_exchange_failed',
        'The identity provider did not accept the sign-in',
        { advice: 'Sign in again.' },
      )
    case 'timeout':
      log.warn('the identity provider does not answer in time', fields)
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
        'The identity provider cannot be used at the moment',
        { advice: tryLater },
      )
  }
}

const tryLater = 'Try again in a while. The log of the service says more.'

/** Nobody can sign in until the owner has acted (docs/sign-in.md). */
export function notConfigured(): WireError {
  return new WireError(500, 'api_error', 'oauth_not_configured', 'Provider OAuth not configured', {
    advice:
      'The owner of the service has to set client_id and client_secret as the identity provider gave them. The log of the service says more.',
  })
}
