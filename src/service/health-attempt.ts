import type { Circuit } from './circuit.ts'
import { failureEffects, type UpstreamFailure } from './failure.ts'

/** One attempt in progress, to be settled exactly once. Later settlements are ignored, but `answered` may come before. */
export interface AttemptHealth {
  /** The upstream has begun to answer. */
  answered(): void
  succeeded(): void
  failed(failure: UpstreamFailure): void
  /** It came to nothing for reasons of ours or of the caller's. */
  abandoned(): void
}

/** A failure counts where it belongs: connection and credential trouble to the provider, the rest to the model at it. */
export class BegunAttempt implements AttemptHealth {
  readonly #whole: Circuit
  readonly #single: Circuit
  readonly #probesWhole: boolean
  readonly #probesSingle: boolean
  #hasAnswered = false
  #isSettled = false

  constructor(whole: Circuit, single: Circuit) {
    this.#whole = whole
    this.#single = single
    this.#probesWhole = whole.begin()
    this.#probesSingle = single.begin()
  }

  answered(): void {
    this.#hasAnswered = true
    this.#whole.answered()
    this.#single.answered()
  }

  succeeded(): void {
    if (!this.#settle()) return
    this.#whole.succeeded(!this.#hasAnswered)
    this.#single.succeeded(!this.#hasAnswered)
  }

  failed(failure: UpstreamFailure): void {
    if (!this.#settle()) return
    if (failureEffects[failure.failure].scope === 'provider') {
      this.#whole.failed(failure, this.#probesWhole, !this.#hasAnswered)
      this.#single.abandoned(this.#probesSingle)
    } else {
      // It was reached: whatever is wrong with the model, the provider's connection and credential are not.
      this.#whole.succeeded(!this.#hasAnswered)
      this.#single.failed(failure, this.#probesSingle, !this.#hasAnswered)
    }
  }

  abandoned(): void {
    if (!this.#settle()) return
    this.#whole.abandoned(this.#probesWhole)
    this.#single.abandoned(this.#probesSingle)
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    return true
  }
}
