import { circuit, type Circuit, type Unavailability } from './circuit.ts'
import { failureEffects, type UpstreamFailure } from './failure.ts'

const entriesMost = 20_000

/** One attempt in progress, to be settled exactly once. Later settlements are ignored, but `answered` may come before. */
export interface AttemptHealth {
  /** The upstream has begun to answer. */
  answered(): void
  succeeded(): void
  failed(failure: UpstreamFailure): void
  /** It came to nothing for reasons of ours or of the caller's. */
  abandoned(): void
}

/** What is known of one provider's ability to serve one model. */
export interface Health {
  /** Why it is not to be asked now; `undefined`: it may be. */
  unavailable(): Unavailability | undefined
  begin(): AttemptHealth
}

/** One breaker that is open, for metrics and for people. */
export interface OpenBreaker {
  readonly provider: string
  /** Absent: the whole provider. */
  readonly model?: string
}

/** The health of every provider and of every model at each; it outlives reloads of the configuration. */
export interface HealthBook {
  of(provider: string, model: string): Health
  openBreakers(): readonly OpenBreaker[]
}

/** @param now milliseconds on a monotonic clock */
export function healthBook(now: () => number, random?: () => number): HealthBook {
  const circuits = new Map<string, { readonly circuit: Circuit; readonly breaker: OpenBreaker }>()

  function circuitOf(breaker: OpenBreaker): Circuit {
    const key = breaker.model === undefined ? breaker.provider : `${breaker.provider}\n${breaker.model}`
    const known = circuits.get(key)
    if (known !== undefined) return known.circuit
    if (circuits.size >= entriesMost) forgetIdle()
    const made = circuit(now, random)
    circuits.set(key, { circuit: made, breaker })
    return made
  }

  function forgetIdle(): void {
    for (const [key, { circuit }] of circuits) if (circuit.isIdle) circuits.delete(key)
  }

  return {
    of(provider, model) {
      const whole = circuitOf({ provider })
      const single = circuitOf({ provider, model })
      return {
        unavailable: () => whole.unavailable() ?? single.unavailable(),
        begin: () => new BegunAttempt(whole, single),
      }
    },
    openBreakers() {
      const open: OpenBreaker[] = []
      for (const { circuit, breaker } of circuits.values()) if (circuit.isOpen) open.push(breaker)
      return open
    },
  }
}

/** A failure counts where it belongs: connection and credential trouble to the provider, the rest to the model at it. */
class BegunAttempt implements AttemptHealth {
  readonly #whole: Circuit
  readonly #single: Circuit
  readonly #probesWhole: boolean
  readonly #probesSingle: boolean
  #isSettled = false

  constructor(whole: Circuit, single: Circuit) {
    this.#whole = whole
    this.#single = single
    this.#probesWhole = whole.begin()
    this.#probesSingle = single.begin()
  }

  answered(): void {
    this.#whole.answered()
    this.#single.answered()
  }

  succeeded(): void {
    if (!this.#settle()) return
    this.#whole.succeeded()
    this.#single.succeeded()
  }

  failed(failure: UpstreamFailure): void {
    if (!this.#settle()) return
    if (failureEffects[failure.failure].scope === 'provider') {
      this.#whole.failed(failure, this.#probesWhole)
      this.#single.abandoned(this.#probesSingle)
    } else {
      // It was reached: whatever is wrong with the model, the provider's connection and credential are not.
      this.#whole.succeeded()
      this.#single.failed(failure, this.#probesSingle)
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
