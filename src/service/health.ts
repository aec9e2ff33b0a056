import { circuit, type Circuit, type Unavailability } from './circuit.ts'
import { failureEffects, requestFailures, type FailureClass, type UpstreamFailure } from './failure.ts'

const modelsMost = 10_000

/** One attempt in progress, to be settled exactly once. Later settlements are ignored, but `answered` may come before. */
export interface AttemptHealth {
  /** The upstream has begun to answer. */
  answered(): void
  succeeded(): void
  failed(failure: UpstreamFailure): void
  /** It came to nothing for reasons of ours or of the caller's. */
  abandoned(): void
}

interface ModelEntry {
  readonly breaker: OpenBreaker
  readonly circuit: Circuit
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

/** How a provider is doing as a whole, for people. */
export interface ProviderHealth {
  /** Why it is left alone now, whatever the model. */
  readonly unavailable: Unavailability | undefined
  /** How its last attempt failed, if it did for a reason that is not the request's. */
  readonly failure: FailureClass | undefined
  /** Models at it that are left alone by themselves. */
  readonly models: readonly ModelHealth[]
}

/** A model that is left alone at a provider. */
export interface ModelHealth {
  readonly model: string
  readonly unavailable: Unavailability
  readonly failure: FailureClass | undefined
}

/** The health of every provider and of every model at each; it outlives reloads of the configuration. */
export interface HealthBook {
  of(provider: string, model: string): Health
  openBreakers(): readonly OpenBreaker[]
  /** All providers that were ever asked, as they are now. Walks through everything that is known: not for the path of a request. */
  look(): ReadonlyMap<string, ProviderHealth>
}

/** @param now milliseconds on a monotonic clock */
export function healthBook(now: () => number, random?: () => number): HealthBook {
  const providers = new Map<string, Circuit>()
  /** By provider and model, least recently wanted first: a caller can make names up where a provider's models are not known. */
  const models = new Map<string, ModelEntry>()

  function ofProvider(provider: string): Circuit {
    const known = providers.get(provider) ?? circuit(now, random)
    providers.set(provider, known)
    return known
  }

  function ofModel(provider: string, model: string): { readonly circuit: Circuit; readonly want: () => void } {
    const key = `${provider}\n${model}`
    const entry = models.get(key) ?? { breaker: { provider, model }, circuit: circuit(now, random) }
    touch(key, entry)
    const [oldest] = models.keys()
    if (models.size > modelsMost && oldest !== undefined) models.delete(oldest)
    return { circuit: entry.circuit, want: () => touch(key, entry) }
  }

  function touch(key: string, entry: ModelEntry): void {
    models.delete(key)
    models.set(key, entry)
  }

  return {
    of(provider, model) {
      const whole = ofProvider(provider)
      const { circuit: single, want } = ofModel(provider, model)
      return {
        unavailable: () => whole.unavailable() ?? single.unavailable(),
        begin() {
          want()
          return new BegunAttempt(whole, single)
        },
      }
    },
    openBreakers() {
      const open: OpenBreaker[] = []
      for (const [provider, { isOpen }] of providers) if (isOpen) open.push({ provider })
      for (const { breaker, circuit: { isOpen } } of models.values()) if (isOpen) open.push(breaker)
      return open
    },
    look() {
      const ofProviders = Map.groupBy(models.values(), ({ breaker }) => breaker.provider)
      return new Map(Array.from(providers, ([provider, whole]) => [provider, lookAt(whole, ofProviders.get(provider) ?? [])]))
    },
  }
}

/** @param entries the last wanted last: what came of it is what the provider did last */
function lookAt(whole: Circuit, entries: readonly ModelEntry[]): ProviderHealth {
  const last = entries.findLast(({ circuit: { lastOutcome } }) => lastOutcome !== undefined)
  return {
    unavailable: whole.unavailable(),
    failure: failureOf(whole) ?? (last === undefined ? undefined : failureOf(last.circuit)),
    models: entries.flatMap(({ breaker: { model = '' }, circuit: single }) => {
      const unavailable = single.unavailable()
      return unavailable === undefined ? [] : [{ model, unavailable, failure: failureOf(single) }]
    }),
  }
}

/** What is wrong with an upstream. A request that was at fault says nothing of it. */
function failureOf({ lastOutcome }: Circuit): FailureClass | undefined {
  return lastOutcome === undefined || lastOutcome === 'answered' || requestFailures.has(lastOutcome) ? undefined : lastOutcome
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
