import { outOfResources, UpstreamFailure } from '../service/failure.ts'
import { TransportError } from '../transport/transport.ts'

/** Classifies a transport error before the head of an answer (failover.md rows 1 to 8). Returns others unchanged. */
export function exchangeFailure(error: unknown): unknown {
  if (!(error instanceof TransportError)) return error
  const cause = { cause: error }
  switch (error.kind) {
    case 'dns':
      return new UpstreamFailure('dns', 'DNS lookup failed', cause)
    case 'connect':
      return new UpstreamFailure('connect', 'connection refused or unreachable', cause)
    case 'connect_timeout':
      return new UpstreamFailure('connect', 'connection timed out', { ...cause, timedOut: true })
    case 'tls_timeout':
      return new UpstreamFailure('tls', 'TLS handshake timed out', { ...cause, timedOut: true })
    case 'tls':
      return new UpstreamFailure('tls', 'TLS failed: certificate or handshake error', cause)
    case 'reset':
      return new UpstreamFailure('reset', 'connection closed before an answer', { ...cause, ambiguous: true })
    case 'informational':
      return new UpstreamFailure('informational', 'too many informational responses', { ...cause, ambiguous: true })
    case 'malformed':
      return new UpstreamFailure('malformed', 'the answer is not HTTP', { ...cause, ambiguous: true })
    case 'too_large':
      return new UpstreamFailure('too_large', 'the answer is too large', cause)
    case 'short_body':
      return new UpstreamFailure('malformed', 'the answer is truncated', { ...cause, ambiguous: true })
    case 'resources':
      return outOfResources(error)
    case 'aborted':
      return error
  }
}

/** Classifies a failed read of the body of a 200 answer (failover.md rows 23 and 29). */
export function bodyFailure(error: unknown): unknown {
  if (!(error instanceof TransportError) || error.kind === 'aborted' || error.kind === 'resources')
    return exchangeFailure(error)
  const details = { status: 200, cause: error }
  if (error.kind === 'too_large') return new UpstreamFailure('too_large', 'the answer is too large', details)
  return new UpstreamFailure('malformed', 'the answer is truncated or malformed', details)
}
