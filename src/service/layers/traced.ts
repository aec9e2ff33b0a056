import { DeadlineExceeded } from '../deadline-exceeded.ts'
import { UpstreamFailure } from '../failure.ts'
import type { Layer } from '../service.ts'
import { type SpanTarget, wholeMicroseconds } from '../trail.ts'

export interface TracedOptions {
  /** The provider's id. */
  readonly name: string
  readonly target: SpanTarget
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number
}

/** Appends each attempt to the call's trail when it has answered or failed, unless the caller has left. */
export function traced<Request, Reply>({ name, target, now }: TracedOptions): Layer<Request, Reply> {
  return (inner) =>
    async function tracedAttempt(request, call) {
      const started = now()
      const span = call.trace?.begin(target)
      const traced = span && { span }
      try {
        const reply = await inner(request, call)
        const ms = wholeMicroseconds(now() - started)
        call.trail.push({ name, status: 200, ms, ...call.changes?.inTrail, ...traced })
        return reply
      } catch (error) {
        const ms = wholeMicroseconds(now() - started)
        if (error instanceof UpstreamFailure && !call.signal.aborted) {
          call.trail.push({
            name,
            ms,
            failure: error.failure,
            reason: error.summary,
            ...(error.status === undefined ? {} : { status: error.status }),
            ...(error.ambiguous ? { ambiguous: true } : {}),
            ...(error.tokens === undefined ? {} : { tokens: error.tokens }),
            ...call.changes?.inTrail,
            ...traced,
          })
        } else if (call.signal.reason instanceof DeadlineExceeded) {
          call.trail.push({
            name,
            ms,
            failure: 'timeout',
            reason: 'request deadline exceeded',
            ambiguous: true,
            ...traced,
          })
        }
        throw error
      }
    }
}
