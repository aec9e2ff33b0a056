import { mayHaveWorked, requestFailures, UpstreamFailure } from './failure.ts'
import type { Unavailability } from './health/health-state.ts'
import type { Call } from './service.ts'
import type { Trail } from './trail.ts'

/*
 * The way of a request at providers, in terms of no format. A `Service` is an async function from a request to a reply;
 * a `Layer` is a function around it, for one concern (`layers/`). `app/provider-layers.ts` puts the layers of a
 * provider together. Failover is no layer: it asks one candidate after the other, and goes on behind a cut with those
 * that are left.
 *
 * Whether a candidate may be asked is looked at when its turn comes, by its health (`health/`): one that rests is
 * skipped while another is available, and tried last otherwise. A failure (`failure.ts`) is a class with its effects:
 * whether the next candidate is asked, what rests, for how long. An aborted call is the caller's doing, and blames no
 * candidate.
 */

/** One of several services that can answer the same request. */
export interface Candidate {
  readonly name: string
  /** Why it should be skipped now; `undefined`: it is available. */
  unavailable(): Unavailability | undefined
}

/** A candidate that was tried, and its failure. */
export interface FailedCandidate {
  readonly name: string
  readonly failure: UpstreamFailure
}

/** No candidate answered. `failures` lists those that were tried, in order; `skipped` says why the others were not. */
export class AllFailed extends Error {
  override readonly name = 'AllFailed'
  readonly failures: readonly FailedCandidate[]
  readonly skipped: readonly Unavailability[]
  /** The last candidate may have done the work, so that no other was tried. */
  readonly isInDoubt: boolean
  constructor(failures: readonly FailedCandidate[], skipped: readonly Unavailability[], isInDoubt = false) {
    super(`all ${failures.length} failed`, { cause: failures.map(({ failure }) => failure) })
    this.failures = failures
    this.skipped = skipped
    this.isInDoubt = isInDoubt
  }
}

/** How {@link failover} treats empty replies. */
export interface FailoverOptions<Reply> {
  /** An empty reply is delivered only if no other candidate answers. */
  readonly isEmpty: (reply: Reply) => boolean
  /** Releases the resources of an empty reply before the next candidate is tried. The reply may still be delivered. */
  readonly release: (reply: Reply) => void
  /** Candidates that fail so are asked once more, when no other available one has answered. */
  readonly isDeferred?: (failure: UpstreamFailure) => boolean
  /** No candidate is tried after a failure behind which the work may have been done, and may be billed. */
  readonly stopsInDoubt?: boolean
}

/** A reply and the candidate that gave it. */
export interface CandidateReply<Tried, Reply> {
  readonly candidate: Tried
  readonly reply: Reply
}

/**
 * A walk along the candidates. Each `next` continues behind the last candidate, so that the remaining ones can resume a
 * cut stream.
 */
export interface CandidateWalk<Tried, Reply> {
  /**
   * Tries candidates until one answers.
   *
   * @param ask sends the request to one candidate; `isLast`: none is left behind it
   * @throws {AllFailed} when no candidate remains; the failure itself when it is final; the call's abort reason when
   *   the caller has left
   */
  next(ask: AskCandidate<Tried, Reply>, call: Call): Promise<CandidateReply<Tried, Reply>>
}

/**
 * Tries the candidates in order until one answers (docs/failover.md). Availability is checked when a candidate's turn
 * comes. Unavailable candidates are skipped while another is available, and tried at the end otherwise:
 *
 * - Candidates that ask to be deferred are tried behind the available ones.
 * - If no candidate was available, all are tried, in order.
 * - If the available ones failed, the skipped are tried, except after failures of the request itself, and except those
 *   whose Retry-After has not passed.
 *
 * Candidates at their concurrency limit are never tried.
 */
export function failover<Tried extends Candidate, Reply>(
  candidates: readonly Tried[],
  options?: FailoverOptions<Reply>,
): CandidateWalk<Tried, Reply> {
  return new Walk(candidates, options)
}

/** Sends the request to one candidate. */
export type AskCandidate<Tried, Reply> = (candidate: Tried, isLast: boolean) => Promise<Reply>

/** A class, since every request has one. */
class Walk<Tried extends Candidate, Reply> implements CandidateWalk<Tried, Reply> {
  readonly #options: FailoverOptions<Reply> | undefined
  readonly #failures: FailedCandidate[] = []
  /** Skipped candidates that were not tried later; absent: none was skipped. */
  #skipped: Map<Tried, Unavailability> | undefined
  #queue: readonly Tried[]
  #deferred: Tried[] = []
  #position = 0
  #hasTried = false
  #isLastResort = false

  constructor(candidates: readonly Tried[], options: FailoverOptions<Reply> | undefined) {
    this.#queue = candidates
    this.#options = options
  }

  async next(ask: AskCandidate<Tried, Reply>, call: Call): Promise<CandidateReply<Tried, Reply>> {
    const options = this.#options
    let empty: CandidateReply<Tried, Reply> | undefined
    for (let candidate = this.#nextCandidate(); candidate !== undefined; candidate = this.#nextCandidate()) {
      this.#hasTried = true
      try {
        const reply = await ask(candidate, this.#isLast())
        if (options?.isEmpty(reply) !== true) return { candidate, reply }
        const isLast = this.#position === this.#queue.length && this.#deferred.length === 0
        if (empty === undefined && isLast) return { candidate, reply }
        empty ??= { candidate, reply }
        options.release(reply)
        markEmpty(call.trail, candidate.name)
      } catch (error) {
        this.#keep(candidate, error, call)
      }
    }
    if (empty !== undefined) return empty
    throw new AllFailed(this.#failures, [...(this.#skipped?.values() ?? [])])
  }

  /** Keeps the failure of a candidate. Throws when no other is to be tried. */
  #keep(candidate: Tried, error: unknown, { signal }: Call): void {
    if (signal.aborted) throw signal.reason
    if (!(error instanceof UpstreamFailure) || error.isFinal) throw error
    this.#failures.push({ name: candidate.name, failure: error })
    if (this.#options?.isDeferred?.(error) === true) this.#deferred.push(candidate)
    if (this.#options?.stopsInDoubt === true && mayHaveWorked(error)) throw new AllFailed(this.#failures, [], true)
  }

  #nextCandidate(): Tried | undefined {
    for (
      let candidate = this.#queue[this.#position];
      candidate !== undefined;
      candidate = this.#queue[this.#position]
    ) {
      this.#position += 1
      const unavailability = candidate.unavailable()
      if (unavailability === undefined || (this.#isLastResort && unavailability.reason !== 'full')) {
        this.#skipped?.delete(candidate)
        return candidate
      }
      this.#skipped ??= new Map()
      this.#skipped.set(candidate, unavailability)
    }
    if (this.#isLastResort && this.#deferred.length === 0) return undefined
    this.#queue = this.#nextQueue()
    this.#position = 0
    return this.#nextCandidate()
  }

  /** Whether no candidate would be tried after a failure of the current one. */
  #isLast(): boolean {
    if (this.#position < this.#queue.length || this.#deferred.length > 0) return false
    return this.#isLastResort || this.#lastResort().length === 0
  }

  #nextQueue(): readonly Tried[] {
    const deferred = this.#deferred
    this.#deferred = []
    if (deferred.length > 0) return deferred
    this.#isLastResort = true
    return this.#lastResort()
  }

  #lastResort(): readonly Tried[] {
    const except = this.#hasTried ? ['full', 'retry_after'] : ['full']
    const hasOnlyRequestFailures = this.#failures.every(({ failure }) => requestFailures.has(failure.failure))
    if (this.#skipped === undefined || (this.#failures.length > 0 && hasOnlyRequestFailures)) return []
    return [...this.#skipped].filter(([, { reason }]) => !except.includes(reason)).map(([candidate]) => candidate)
  }
}

/** Marks the last attempt at `name` as empty in the trail. */
function markEmpty(trail: Trail, name: string): void {
  const position = trail.findLastIndex((attempt) => attempt.name === name)
  const attempt = trail[position]
  if (attempt !== undefined) trail[position] = { ...attempt, failure: 'empty', reason: 'the answer is empty' }
}
