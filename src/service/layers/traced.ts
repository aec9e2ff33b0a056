import { DeadlineExceeded } from '../deadline-exceeded.ts'
import { UpstreamFailure } from '../failure.ts'
import type { Call, Layer } from '../service.ts'
import type { Attempt } from '../trail.ts'
import { wholeMicroseconds } from '../whole-microseconds.ts'

/** Options of {@link traced}. */
export interface TracedOptions {
  /** The provider's id. */
  readonly name: string
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number
}

/** Appends each attempt to the call's trail when it has answered or failed, unless the caller has left. */
export function traced<Request, Reply>({ name, now }: TracedOptions): Layer<Request, Reply> {
  return (inner) =>
    async function tracedAttempt(request, call) {
      const started = now()
      try {
        const reply = await inner(request, call)
        call.trail.push({ name, status: 200, ms: wholeMicroseconds(now() - started), ...adaptedIn(call) })
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
            ...adaptedIn(call),
          })
        } else if (call.signal.reason instanceof DeadlineExceeded) {
          call.trail.push({
            name,
            ms,
            failure: 'timeout',
            reason: 'request deadline exceeded',
            ambiguous: true,
          })
        }
        throw error
      }
    }
}

/** The traits that a refusal has taught in this attempt. */
function adaptedIn({ changes }: Call): Pick<Attempt, 'adapted'> | undefined {
  return changes === undefined || changes.adapted.length === 0 ? undefined : { adapted: changes.adapted }
}
