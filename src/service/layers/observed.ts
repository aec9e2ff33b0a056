import { UpstreamFailure } from '../failure.ts'
import type { AttemptHealth } from '../health/attempt-health.ts'
import type { Health } from '../health/health.ts'
import type { Call, Layer } from '../service.ts'
import type { Tokens } from '../tokens.ts'
import type { Trail } from '../trail.ts'
import type { OnEnd } from './bulkhead.ts'

export interface ObservedOptions<Reply> {
  readonly health: Health
  readonly onEnd: OnEnd<Reply>
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number
}

/**
 * Records the outcome of each request in the upstream's health: once for each request, by the last of its attempts. A
 * completed stream is a success, a cut stream a failure; a caller who left is neither. A cut also replaces the
 * attempt's entry in the trail.
 */
export function observed<Request, Reply>({ health, onEnd, now }: ObservedOptions<Reply>): Layer<Request, Reply> {
  /**
   * Records how a reply ends. Outside `observedRequest`, since a closure inside it would keep the request in memory
   * until the stream ends.
   */
  function settling(attempt: AttemptHealth, trail: Trail): (failure: unknown, tokens?: Tokens) => void {
    const position = trail.length - 1
    const answered = trail[position]
    const answeredAt = now()
    return (failure, tokens) => {
      if (failure === undefined) attempt.succeeded()
      else if (failure instanceof UpstreamFailure) {
        attempt.failed(failure)
        if (answered === undefined) return
        const ms = answered.ms + now() - answeredAt
        trail[position] = {
          ...(trail[position] ?? answered),
          status: 200,
          failure: failure.failure,
          reason: failure.summary,
          ms,
          tokens,
        }
      } else attempt.abandoned()
    }
  }

  return (inner) =>
    async function observedRequest(request, call) {
      const attempt = health.begin()
      try {
        const reply = await inner(request, attempt.isProbe ? asProbe(call) : call)
        attempt.answered()
        onEnd(reply, settling(attempt, call.trail))
        return reply
      } catch (error) {
        if (error instanceof UpstreamFailure && error.failure !== 'resources' && !call.signal.aborted)
          attempt.failed(error, call.callerId?.())
        else attempt.abandoned()
        throw error
      }
    }
}

function asProbe({ signal, trail, changes, trace }: Call): Call {
  return { signal, trail, changes, trace, isProbe: true }
}
