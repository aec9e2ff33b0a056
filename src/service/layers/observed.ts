import { UpstreamFailure } from '../failure.ts'
import type { AttemptHealth } from '../health-attempt.ts'
import type { Health } from '../health.ts'
import type { Layer } from '../service.ts'
import { TimeUp } from '../time-up.ts'
import type { Tokens, Trail } from '../trail.ts'
import type { WatchEnd } from './bulkhead.ts'

/** What {@link observed} needs. */
export interface ObservedOptions<Reply> {
  readonly name: string
  readonly health: Health
  readonly watchEnd: WatchEnd<Reply>
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number
}

/**
 * Writes each attempt into the call's trail and its outcome into the upstream's health. A stream counts as a success
 * when it has ended well, as a failure when it was cut, as nothing when the caller left.
 */
export function observed<Request, Reply>({
  name,
  health,
  watchEnd,
  now,
}: ObservedOptions<Reply>): Layer<Request, Reply> {
  /**
   * Notes how a reply ends. Made outside of the async function, whose closures would hold its request as long as a
   * stream lasts.
   */
  function settling(
    attempt: AttemptHealth,
    trail: Trail,
    started: number,
  ): (failure: unknown, tokens?: Tokens) => void {
    const position = trail.push({ name, status: 200, ms: now() - started }) - 1
    return (failure, tokens) => {
      if (failure === undefined) attempt.succeeded()
      else if (failure instanceof UpstreamFailure) {
        attempt.failed(failure)
        trail[position] = {
          name,
          status: 200,
          failure: failure.failure,
          reason: failure.message,
          ms: now() - started,
          tokens,
        }
      } else attempt.abandoned()
    }
  }

  return (inner) =>
    async function observedAttempt(request, call) {
      const started = now()
      const attempt = health.begin()
      try {
        const reply = await inner(request, call)
        attempt.answered()
        return watchEnd(reply, settling(attempt, call.trail, started))
      } catch (error) {
        const ms = now() - started
        if (error instanceof UpstreamFailure && !call.signal.aborted) {
          if (error.failure === 'resources') attempt.abandoned()
          else attempt.failed(error)
          call.trail.push({
            name,
            ms,
            failure: error.failure,
            reason: error.message,
            ...(error.status === undefined ? {} : { status: error.status }),
            ...(error.ambiguous ? { ambiguous: true } : {}),
          })
        } else {
          attempt.abandoned()
          if (call.signal.reason instanceof TimeUp) {
            call.trail.push({
              name,
              ms,
              failure: 'timeout',
              reason: 'no answer before the time for the whole request was up',
              ambiguous: true,
            })
          }
        }
        throw error
      }
    }
}
