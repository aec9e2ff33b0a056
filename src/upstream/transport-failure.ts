import { outOfResources, UpstreamFailure, type FailureClass } from '../service/failure.ts'
import { TransportError, type TransportErrorKind } from '../transport/transport.ts'

type Details = { readonly timedOut?: boolean; readonly ambiguous?: boolean }
type Kind = Exclude<TransportErrorKind, 'resources' | 'aborted'>

/** Class and message of each kind. Without a message, that of the error. */
const failures: Readonly<Record<Kind, readonly [FailureClass, string | undefined, Details?]>> = {
  dns: ['dns', 'DNS lookup failed'],
  connect: ['connect', 'connection refused or unreachable'],
  connect_timeout: ['connect', 'connection timed out', { timedOut: true }],
  tls: ['tls', 'TLS failed: certificate or handshake error'],
  tls_timeout: ['tls', 'TLS handshake timed out', { timedOut: true }],
  proxy: ['connect', undefined],
  proxy_timeout: ['connect', undefined, { timedOut: true }],
  proxy_credential: ['credential', undefined],
  reset: ['reset', 'connection closed before an answer', { ambiguous: true }],
  informational: ['informational', 'too many informational responses', { ambiguous: true }],
  malformed: ['malformed', 'the answer is not HTTP', { ambiguous: true }],
  too_large: ['too_large', 'the answer is too large'],
  short_body: ['malformed', 'the answer is truncated', { ambiguous: true }],
}

/** Classifies a transport error before the head of an answer (failover.md rows 1 to 8). Returns others unchanged. */
export function exchangeFailure(error: unknown): unknown {
  if (!(error instanceof TransportError) || error.kind === 'aborted') return error
  if (error.kind === 'resources') return outOfResources(error)
  const [failure, message = error.message, details] = failures[error.kind]
  return new UpstreamFailure(failure, message, { ...details, cause: error })
}

/** Classifies a failed read of the body of a 200 answer (failover.md rows 23 and 29). */
export function bodyFailure(error: unknown): unknown {
  if (!(error instanceof TransportError) || error.kind === 'aborted' || error.kind === 'resources')
    return exchangeFailure(error)
  const details = { status: 200, cause: error }
  if (error.kind === 'too_large') return new UpstreamFailure('too_large', 'the answer is too large', details)
  return new UpstreamFailure('malformed', 'the answer is truncated or malformed', details)
}
