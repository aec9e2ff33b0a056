import type { Changes } from '../changes.ts'
import { UpstreamFailure } from '../failure.ts'
import { type Call, callController, type CallSignal, type Layer } from '../service.ts'
import type { SharedTimer, SharedTimers } from '../shared-timers.ts'
import type { AttemptTrace, Trail } from '../trail.ts'

/** Longest time of an upstream that shows progress, in milliseconds. */
const progressMs = 300_000

export interface DeadlineOptions<Request> {
  /** Milliseconds for a request. Infinity: only the whole request has a limit. */
  readonly msOf: (request: Request, call: Call) => number
  /** Milliseconds from each progress that the upstream shows, up to 300 s from the first one. */
  readonly idleMs: number
  readonly timers: SharedTimers
}

/**
 * Aborts an attempt that has not replied in time. Once a stream is returned, only its own timers apply.
 *
 * @throws {UpstreamFailure} `timeout`, ambiguous: the upstream may have done the work
 */
export function deadline<Request, Reply>({ msOf, ...limits }: DeadlineOptions<Request>): Layer<Request, Reply> {
  return (inner) =>
    async function withinDeadline(request, call) {
      const attempt = new LimitedAttempt(call, limits)
      attempt.begin(msOf(request, call))
      try {
        return await inner(request, attempt)
      } catch (error) {
        throw attempt.signal.aborted ? attempt.signal.reason : error
      } finally {
        attempt.end()
      }
    }
}

type Limits = Omit<DeadlineOptions<unknown>, 'msOf'>

/** The call of an attempt, with its timers. */
class LimitedAttempt implements Call {
  readonly trail: Trail
  readonly changes: Changes | undefined
  readonly trace: AttemptTrace | undefined
  readonly #controller = callController()
  readonly #outer: CallSignal
  readonly #limits: Limits
  #timer: SharedTimer | undefined
  /** Progress gives it more time. */
  #isShort = true
  /** Ends an attempt that shows progress for too long. */
  #total: SharedTimer | undefined

  constructor({ signal, trail, changes, trace }: Call, limits: Limits) {
    this.trail = trail
    this.changes = changes
    this.trace = trace
    this.#outer = signal
    this.#limits = limits
    signal.addEventListener('abort', this.#leave, { once: true })
    if (signal.aborted) this.#leave()
  }

  get signal(): CallSignal {
    return this.#controller.signal
  }

  onProgress(): void {
    if (this.signal.aborted || !this.#isShort) return
    this.#total ??= this.#start(progressMs)
    this.#limit(this.#limits.idleMs)
  }

  begin(ms: number): void {
    this.#isShort = ms < progressMs
    if (ms !== Infinity) this.#limit(ms)
  }

  /** Limits the time from now on. */
  #limit(ms: number): void {
    this.#timer?.stop()
    this.#timer = this.#start(ms)
  }

  end(): void {
    this.#timer?.stop()
    this.#total?.stop()
    this.#outer.removeEventListener('abort', this.#leave)
  }

  #start(ms: number): SharedTimer {
    return this.#limits.timers.start(ms, () => {
      const reason = `no answer within ${formatSeconds(ms)}`
      this.#controller.abort(new UpstreamFailure('timeout', reason, { ambiguous: true }))
    })
  }

  readonly #leave = (): void => this.#controller.abort(this.#outer.reason)
}

function formatSeconds(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`
}
