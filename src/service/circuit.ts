import { failureEffects, type FailureClass, type UpstreamFailure } from './failure.ts'
import { HealthBreaker } from './health-breaker.ts'
import { isNews, probeMsMost, type Happening, type HeldOff, type Recovery } from './health-news.ts'
import { HealthPauses } from './health-pauses.ts'

const waitMs = 1_000

/** Why an upstream is not to be asked now, and for how much longer. */
export interface Unavailability {
  /**
   * `retry_after`: it asked to be left alone. `open`: its breaker is open, or its one probe is under way. `cool_down`:
   * it failed three times for a lasting reason. `full`: it has as many requests as it may have.
   */
  readonly reason: 'retry_after' | 'open' | 'cool_down' | 'full'
  readonly remainingMs: number
}

/**
 * The health of one upstream, or of one model at it: circuit breaker, cool-downs and Retry-After (failover.md, rule 2
 * and "Breaker").
 */
export interface Circuit {
  unavailable(): Unavailability | undefined
  readonly isOpen: boolean
  /**
   * What came of the last attempt that was settled: its failure, or that it answered. `undefined`: there was none. For
   * people, not for decisions.
   */
  readonly lastOutcome: FailureClass | 'answered' | undefined
  /**
   * An attempt begins. `true`: the breaker has been open long enough, and this attempt is its probe; others are held
   * off until it is settled.
   */
  begin(): boolean
  /** The upstream has begun to answer: a probe succeeded, although the answer may still be cut. */
  answered(): void
  /**
   * An attempt has come to its good end. What began to answer before others were refused says nothing of that: it ends
   * no trouble, unless something has begun to answer since.
   *
   * @param isPrompt it is as new as its end: `answered` was not called for it
   */
  succeeded(isPrompt?: boolean): void
  /** @param isPrompt as of `succeeded`: what fails after it has begun to answer refuses nobody */
  failed(failure: UpstreamFailure, isProbe: boolean, isPrompt?: boolean): void
  /** The attempt came to nothing for reasons of ours or of the caller's. */
  abandoned(isProbe: boolean): void
  /** Takes over what another process learned, and tells nobody. */
  hear(happening: Happening): void
  /**
   * Until when what is known of it says anything, if nobody here asks it and nobody tells more of it: on the clock it
   * is given.
   */
  readonly mattersUntil: number
  /** What a process that knows nothing of it should hear now, in order. */
  standing(): readonly Happening[]
}

/**
 * A circuit in its closed state.
 *
 * @param now milliseconds on a monotonic clock
 * @param random 0 to 1, for the jitter of ±20 %
 * @param tell told, as it happens, what other processes should know of this one's attempts
 */
export function circuit(
  now: () => number,
  random: () => number = Math.random,
  tell?: (happening: Happening) => void,
): Circuit {
  const breaker = new HealthBreaker(now, random)
  const pauses = new HealthPauses(now)
  let hasAnswered = false
  /**
   * Others may hold something against it, which the next success here ends. That of another does not: a failure may
   * have crossed it.
   */
  let isSuspect = false
  /**
   * When it last failed, and when it last was well, here or elsewhere, as far as others could care. Of what was heard
   * late, the earliest that it can have been.
   */
  let illAt = -Infinity
  let wellAt = -Infinity
  let heardAt = -Infinity
  /** When something last began to answer here, and when it last failed at that, here or elsewhere. */
  let answeredAt = -Infinity
  let refusedAt = -Infinity

  function heldOff(): { readonly heldOff?: HeldOff } {
    const time = now()
    const retryAfterMs = pauses.retryAfterUntil - time
    const coolDownMs = pauses.coolDownUntil - time
    if (retryAfterMs <= 0 && coolDownMs <= 0 && !breaker.isOpen) return {}
    return {
      heldOff: {
        ...(retryAfterMs > 0 ? { retryAfterMs } : {}),
        ...(coolDownMs > 0 ? { coolDownMs } : {}),
        ...(breaker.isOpen
          ? { breaker: { remainingMs: Math.max(0, breaker.openUntil - time), stepMs: breaker.stepMs } }
          : {}),
      },
    }
  }

  /**
   * A rate limit is none: the end of a stream makes room where there was one. Nor is a cut, of which other processes
   * tell, too.
   */
  function noteRefusal(failure: FailureClass | undefined, agoMs = 0): void {
    if (failure !== 'rate_limit' && failure !== 'cut') refusedAt = Math.max(refusedAt, now() - agoMs)
  }

  function giveUp(isProbe: boolean): void {
    if (isProbe && breaker.giveUpProbe()) tell?.({ kind: 'probe_over' })
  }

  /** What holds it off all the same was told with it. */
  function hearRecovery({ kind, heldOff: held = {}, agoMs = 0, lagMs = 0 }: Recovery): void {
    if (illAt > now() - agoMs) return
    wellAt = Math.max(wellAt, now() - agoMs - lagMs)
    if (kind === 'answered') {
      if (breaker.isOpen) breaker.close()
    } else {
      breaker.heardSuccess()
      pauses.forgive()
      hasAnswered = true
    }
    pauses.takeOver(held)
  }

  return {
    unavailable() {
      const time = now()
      const { retryAfterUntil, coolDownUntil } = pauses
      if (retryAfterUntil > time) return { reason: 'retry_after', remainingMs: retryAfterUntil - time }
      if (breaker.isOpen && breaker.openUntil > time) return { reason: 'open', remainingMs: breaker.openUntil - time }
      if (breaker.isOpen && breaker.isProbing) return { reason: 'open', remainingMs: waitMs }
      if (coolDownUntil > time) return { reason: 'cool_down', remainingMs: coolDownUntil - time }
      return undefined
    },
    get isOpen() {
      return breaker.isOpen
    },
    get lastOutcome() {
      return pauses.lastClass ?? (hasAnswered ? 'answered' : undefined)
    },
    begin() {
      const isProbe = breaker.begin()
      if (isProbe) tell?.({ kind: 'probing' })
      return isProbe
    },
    answered() {
      answeredAt = now()
      if (!breaker.isOpen) return
      breaker.close()
      wellAt = now()
      tell?.({ kind: 'answered', ...heldOff() })
    },
    succeeded(isPrompt = true) {
      if (!isPrompt && answeredAt < refusedAt) return breaker.succeededLate()
      breaker.succeeded()
      pauses.forgive()
      hasAnswered = true
      if (!isSuspect) return
      isSuspect = false
      wellAt = now()
      tell?.({ kind: 'succeeded', ...heldOff() })
    },
    failed({ failure, retryAfterMs }, isProbe, isPrompt = true) {
      const isPaused = pauses.failed(failure, retryAfterMs)
      const counts = failureEffects[failure].breaker
      const hasOpened = counts && breaker.failed()
      if (!counts) giveUp(isProbe)
      if (!isNews(failure)) return
      isSuspect = true
      illAt = now()
      if (isPrompt) noteRefusal(failure)
      tell?.({
        kind: 'failed',
        failure,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(isPaused || hasOpened ? heldOff() : {}),
      })
    },
    abandoned: giveUp,
    get mattersUntil() {
      // An open breaker waits for a probe, and others may be about to count on.
      return Math.max(
        pauses.retryAfterUntil,
        pauses.coolDownUntil,
        probeMsMost + Math.max(illAt, heardAt, breaker.isOpen ? breaker.openUntil : -Infinity),
      )
    },
    hear(happening) {
      heardAt = now()
      switch (happening.kind) {
        case 'failed':
          isSuspect = true
          illAt = Math.max(illAt, now() - (happening.lagMs ?? 0))
          noteRefusal(happening.failure, happening.lagMs)
          pauses.failed(happening.failure, happening.retryAfterMs)
          pauses.takeOver(happening.heldOff ?? {})
          // First what was told, so that nothing is opened by counting that was opened with jitter.
          breaker.takeOver(happening.heldOff?.breaker)
          if (failureEffects[happening.failure].breaker) breaker.heardFailure()
          return
        case 'standing':
          // What is newer counts, whichever came first.
          if (happening.agoMs !== undefined && wellAt > now() - happening.agoMs) return
          isSuspect = true
          noteRefusal(happening.failure, happening.agoMs)
          pauses.takeOver(happening.heldOff ?? {})
          pauses.takeOverRow(happening)
          breaker.takeOver(happening.heldOff?.breaker, happening.row)
          return
        case 'answered':
        case 'succeeded':
          return hearRecovery(happening)
        case 'probing':
          return breaker.heardProbe(true)
        case 'probe_over':
          return breaker.heardProbe(false)
      }
    },
    standing() {
      const { lastClass, sameClass } = pauses
      const held = heldOff()
      const last = lastClass !== undefined && isNews(lastClass) ? { failure: lastClass, sameClass } : { sameClass: 0 }
      if (breaker.row === 0 && last.sameClass === 0 && held.heldOff === undefined) return []
      const standing: Happening = { kind: 'standing', row: breaker.row, ...last, ...held }
      return breaker.isOpen && breaker.isProbing ? [standing, { kind: 'probing' }] : [standing]
    },
  }
}
