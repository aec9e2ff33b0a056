import { failureEffects, type UpstreamFailure } from '../failure.ts'
import type { HealthState } from './health-state.ts'

/**
 * A request in progress at a provider, with all its retries. To be settled once, by `succeeded`, `failed` or
 * `abandoned`; later calls are ignored. `answered` may come before.
 */
export interface AttemptHealth {
  /** This request is the probe of an open breaker, of the provider or of the model. */
  readonly isProbe: boolean
  /** The upstream starts to answer. */
  answered(): void
  succeeded(): void
  failed(failure: UpstreamFailure): void
  /** The request ended without an outcome, by the caller or by an internal error. */
  abandoned(): void
}

/** Counts failures by scope: of connections and credentials for the provider, others for the model at it. */
export class StartedAttempt implements AttemptHealth {
  readonly #provider: HealthState
  readonly #model: HealthState
  readonly #probesProvider: boolean
  readonly #probesModel: boolean
  #hasAnswered = false
  #isSettled = false

  constructor(provider: HealthState, model: HealthState) {
    this.#provider = provider
    this.#model = model
    this.#probesProvider = provider.begin()
    this.#probesModel = model.begin()
  }

  get isProbe(): boolean {
    return this.#probesProvider || this.#probesModel
  }

  answered(): void {
    this.#hasAnswered = true
    this.#provider.answered()
    this.#model.answered()
  }

  succeeded(): void {
    if (!this.#settle()) return
    this.#provider.succeeded(this.#hasAnswered)
    this.#model.succeeded(this.#hasAnswered)
  }

  failed(failure: UpstreamFailure): void {
    if (!this.#settle()) return
    if (failureEffects[failure.failure].scope === 'provider') {
      this.#provider.failed(failure, this.#probesProvider, this.#hasAnswered)
      this.#model.abandoned(this.#probesModel)
    } else {
      // The provider was reached with this credential, so only the model fails.
      this.#provider.succeeded(this.#hasAnswered)
      this.#model.failed(failure, this.#probesModel, this.#hasAnswered)
    }
  }

  abandoned(): void {
    if (!this.#settle()) return
    this.#provider.abandoned(this.#probesProvider)
    this.#model.abandoned(this.#probesModel)
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    return true
  }
}
