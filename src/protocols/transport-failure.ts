import { outOfRoom, UpstreamFailure } from '../service/failure.ts'
import { TransportError } from '../transport/transport.ts'

/**
 * What a failed exchange means before its answer's head has arrived (failover.md rows 1 to 8). Anything else is
 * returned as it is.
 */
export function exchangeFailure(error: unknown): unknown {
  if (!(error instanceof TransportError)) return error
  const cause = { cause: error }
  switch (error.kind) {
    case 'dns':
      return new UpstreamFailure('dns', 'its name was not found', cause)
    case 'connect':
      return new UpstreamFailure('connect', 'connection refused or unreachable', cause)
    case 'connect_timeout':
      return new UpstreamFailure('connect', 'no connection in time', { ...cause, timedOut: true })
    case 'tls_timeout':
      return new UpstreamFailure('tls', 'no secure connection in time', { ...cause, timedOut: true })
    case 'tls':
      return new UpstreamFailure('tls', 'no secure connection: its certificate or handshake is at fault', cause)
    case 'reset':
      return new UpstreamFailure('reset', 'the connection was closed before an answer', { ...cause, ambiguous: true })
    case 'informational':
      return new UpstreamFailure('informational', 'too many informational responses', { ...cause, ambiguous: true })
    case 'malformed':
      return new UpstreamFailure('malformed', 'an answer that is not HTTP', { ...cause, ambiguous: true })
    case 'too_large':
      return new UpstreamFailure('too_large', 'an answer that is too large', cause)
    case 'short_body':
      return new UpstreamFailure('malformed', 'a truncated answer', { ...cause, ambiguous: true })
    case 'resources':
      return outOfRoom(error)
    case 'aborted':
      return error
  }
}

/** What a failed read of a 200 answer's body means (failover.md rows 23 and 29). */
export function bodyFailure(error: unknown): unknown {
  if (!(error instanceof TransportError) || error.kind === 'aborted' || error.kind === 'resources')
    return exchangeFailure(error)
  const details = { status: 200, cause: error }
  if (error.kind === 'too_large') return new UpstreamFailure('too_large', 'an answer that is too large', details)
  return new UpstreamFailure('malformed', 'a truncated or garbled answer', details)
}
