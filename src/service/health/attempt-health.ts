import { isWhole, type UpstreamFailure } from '../failure.ts'
import type { KeyDoubts } from './cool-down.ts'
import type { HealthState } from './health-state.ts'

/** A longer wait rests one model only. */
const providerWaitMaxMs = 600_000

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
  /** @param callerId tells callers apart; absent: unknown */
  failed(failure: UpstreamFailure, callerId?: string): void
  /** The request ended without an outcome, by the caller or by an internal error. */
  abandoned(): void
}

/**
 * Counts failures by their scope, for the provider or for the model at it. A key that only a status refuses rests the
 * model; the provider, once {@link KeyDoubts} are confirmed.
 */
export class StartedAttempt implements AttemptHealth {
  readonly #provider: HealthState
  readonly #model: HealthState
  readonly #doubts: KeyDoubts
  readonly #name: string
  readonly #probesProvider: boolean
  readonly #probesModel: boolean
  #hasAnswered = false
  #isSettled = false

  /** @param name of the model */
  constructor(provider: HealthState, model: HealthState, doubts: KeyDoubts, name: string) {
    this.#provider = provider
    this.#model = model
    this.#doubts = doubts
    this.#name = name
    this.#probesProvider = provider.begin()
    this.#probesModel = model.begin()
  }

  get isProbe(): boolean {
    return this.#probesProvider || this.#probesModel
  }

  answered(): void {
    this.#hasAnswered = true
    this.#doubts.clear()
    this.#provider.answered()
    this.#model.answered()
  }

  succeeded(): void {
    if (!this.#settle()) return
    this.#doubts.clear()
    this.#provider.succeeded(this.#hasAnswered)
    this.#model.succeeded(this.#hasAnswered)
  }

  failed(failure: UpstreamFailure, callerId = ''): void {
    if (!this.#settle()) return
    if (isWhole(failure.scope) && !failure.isUnproven) return this.#failedWholly(failure)
    if (failure.isUnproven) {
      this.#provider.abandoned(this.#probesProvider)
      if (this.#doubts.confirm(this.#name, callerId)) this.#provider.rest(failure.failure)
    } else {
      // The provider was reached with this credential, so only the model fails.
      this.#doubts.clear()
      this.#provider.succeeded(this.#hasAnswered)
    }
    this.#model.failed(failure, this.#probesModel, this.#hasAnswered)
  }

  #failedWholly({ failure, retryAfterMs }: UpstreamFailure): void {
    const isLong = retryAfterMs !== undefined && retryAfterMs > providerWaitMaxMs
    const shortMs = isLong ? providerWaitMaxMs : retryAfterMs
    this.#provider.failed({ failure, retryAfterMs: shortMs }, this.#probesProvider, this.#hasAnswered)
    if (isLong) this.#model.retrying({ failure, retryAfterMs })
    this.#model.abandoned(this.#probesModel)
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
