import type { Unavailability } from './circuit.ts'
import { requestFailures, UpstreamFailure } from './failure.ts'
import type { Call } from './service.ts'
import type { Trail } from './trail.ts'

/** One of several services that can answer the same request. */
export interface Candidate {
  readonly name: string
  /** Why it should not be asked now; `undefined`: it may be. */
  unavailable(): Unavailability | undefined
}

/** A candidate that was asked, and why it did not answer. */
export interface FailedCandidate {
  readonly name: string
  readonly failure: UpstreamFailure
}

/**
 * Nobody answered. Everyone who was asked is in `failures`, in order; why the others were not, and for how much longer,
 * in `skipped`.
 */
export class AllFailed extends Error {
  override readonly name = 'AllFailed'
  readonly failures: readonly FailedCandidate[]
  readonly skipped: readonly Unavailability[]
  constructor(failures: readonly FailedCandidate[], skipped: readonly Unavailability[]) {
    super(`all ${failures.length} failed`, { cause: failures.map(({ failure }) => failure) })
    this.failures = failures
    this.skipped = skipped
  }
}

/** What {@link failover} needs to know of replies. */
export interface FailoverOptions<Reply> {
  /** An answer so poor that it is delivered only if nobody else remains. */
  readonly isPoor: (reply: Reply) => boolean
  /** Lets go of a poor answer's resources when somebody else is asked; it may still be delivered. */
  readonly release: (reply: Reply) => void
}

/** A reply, and who gave it. */
export interface Answer<Asked, Reply> {
  readonly candidate: Asked
  readonly reply: Reply
}

/**
 * A walk along the candidates. Each `next` goes on where the last one stopped, so that an interrupted answer can be
 * taken up by those who were not asked yet.
 */
export interface Walk<Asked, Reply> {
  /**
   * The next answer.
   *
   * @param ask puts the question to one candidate
   * @throws {AllFailed} when nobody remains; the failure itself when it is final; the call's abort reason when the
   *   caller has left
   */
  next(ask: (candidate: Asked) => Promise<Reply>, call: Call): Promise<Answer<Asked, Reply>>
}

/**
 * Asks the candidates in order until one answers (docs/api.md). Whether one may be asked is looked at when its turn
 * comes: one that is to be left alone is skipped while another is available. When nobody was, all that are to be left
 * alone are asked, in order; when those that were have failed, and not because of the request itself, the skipped are
 * asked after all, but for those that asked to be left alone. Who is full is never asked.
 */
export function failover<Asked extends Candidate, Reply>(
  candidates: readonly Asked[],
  options?: FailoverOptions<Reply>,
): Walk<Asked, Reply> {
  const failures: FailedCandidate[] = []
  /** Who was passed over, and why. Whoever is asked after all leaves it. */
  const skipped = new Map<Asked, Unavailability>()
  let queue = candidates
  let position = 0
  let hasAsked = false
  let isLastResort = false

  function nextCandidate(): Asked | undefined {
    for (let candidate = queue[position]; candidate !== undefined; candidate = queue[position]) {
      position += 1
      const unavailability = candidate.unavailable()
      if (unavailability === undefined || (isLastResort && unavailability.reason !== 'full')) {
        skipped.delete(candidate)
        return candidate
      }
      skipped.set(candidate, unavailability)
    }
    if (isLastResort) return undefined
    isLastResort = true
    queue = lastResort()
    position = 0
    return nextCandidate()
  }

  function lastResort(): readonly Asked[] {
    const except = hasAsked ? ['full', 'retry_after'] : ['full']
    if (failures.length > 0 && failures.every(({ failure }) => requestFailures.has(failure.failure))) return []
    return [...skipped].filter(([, { reason }]) => !except.includes(reason)).map(([candidate]) => candidate)
  }

  async function next(ask: (candidate: Asked) => Promise<Reply>, call: Call): Promise<Answer<Asked, Reply>> {
    let poor: Answer<Asked, Reply> | undefined
    for (let candidate = nextCandidate(); candidate !== undefined; candidate = nextCandidate()) {
      hasAsked = true
      try {
        const reply = await ask(candidate)
        if (options?.isPoor(reply) !== true) return { candidate, reply }
        if (poor === undefined && position === queue.length) return { candidate, reply }
        poor ??= { candidate, reply }
        options.release(reply)
        markEmpty(call.trail, candidate.name)
      } catch (error) {
        if (call.signal.aborted) throw call.signal.reason
        if (!(error instanceof UpstreamFailure) || error.isFinal) throw error
        failures.push({ name: candidate.name, failure: error })
      }
    }
    if (poor !== undefined) return poor
    throw new AllFailed(failures, [...skipped.values()])
  }

  return { next }
}

/** The last attempt at `name` was answered, but with nothing in it. */
function markEmpty(trail: Trail, name: string): void {
  const position = trail.findLastIndex((attempt) => attempt.name === name)
  const attempt = trail[position]
  if (attempt !== undefined) trail[position] = { ...attempt, failure: 'empty', reason: 'an empty answer' }
}
