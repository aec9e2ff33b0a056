import { circuit, type Circuit, type Unavailability } from './circuit.ts'
import { requestFailures, type FailureClass } from './failure.ts'
import { BegunAttempt, type AttemptHealth } from './health-attempt.ts'
import type { Happening, HealthNews } from './health-news.ts'

const modelsMost = 10_000
/** Of whom others told. Who is asked here is known from the configuration, which bounds it. */
const providersMost = 1_000
const standingMost = 1_000

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
  /**
   * What others should know of this process's own attempts is told as it happens: failures that count, what ends the trouble, and probes. Nothing while all
   * is well. Of what it hears nothing is told on. The listener is called on the path of a request: it must be quick, and must not throw.
   */
  onNews(listener: (news: HealthNews) => void): void
  /** Takes over what another process has learned. News of one teller must come in the order of their telling. */
  hear(news: HealthNews): void
  /** What a newcomer should hear now, in order: at most some 1,000, whole providers first, then the models wanted last. */
  standing(): readonly HealthNews[]
}

/** @param now milliseconds on a monotonic clock */
export function healthBook(now: () => number, random?: () => number): HealthBook {
  const providers = new Map<string, Circuit>()
  /** By provider and model, least recently wanted first: a caller can make names up where a provider's models are not known. */
  const models = new Map<string, ModelEntry>()
  const listeners: ((news: HealthNews) => void)[] = []

  function circuitOf(subject: OpenBreaker): Circuit {
    return circuit(now, random, (happening) => {
      for (const listener of listeners) listener({ ...subject, ...happening })
    })
  }

  function ofProvider(provider: string): Circuit {
    const known = providers.get(provider) ?? circuitOf({ provider })
    providers.set(provider, known)
    return known
  }

  function ofModel(provider: string, model: string): { readonly circuit: Circuit; readonly want: () => void } {
    const key = keyOf(provider, model)
    const entry = models.get(key) ?? { breaker: { provider, model }, circuit: circuitOf({ provider, model }) }
    touch(key, entry)
    const [oldest] = models.keys()
    if (models.size > modelsMost && oldest !== undefined) models.delete(oldest)
    return { circuit: entry.circuit, want: () => touch(key, entry) }
  }

  function touch(key: string, entry: ModelEntry): void {
    models.delete(key)
    models.set(key, entry)
  }

  /** Only trouble makes an entry: of whom nothing is known, nothing is to be ended. */
  function heardOf({ provider, model, kind }: HealthNews): Circuit | undefined {
    if (kind !== 'failed' && kind !== 'standing') return model === undefined ? providers.get(provider) : models.get(keyOf(provider, model))?.circuit
    if (!providers.has(provider) && providers.size >= providersMost) return undefined
    const whole = ofProvider(provider)
    return model === undefined ? whole : ofModel(provider, model).circuit
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
    onNews(listener) { listeners.push(listener) },
    hear(news) { heardOf(news)?.hear(news) },
    standing() {
      const wholes = Array.from(providers, ([provider, whole]) => about({ provider }, whole.standing()))
      const singles = Array.from(models.values(), ({ breaker, circuit: single }) => about(breaker, single.standing())).reverse()
      return [...wholes, ...singles].flat().slice(0, standingMost)
    },
  }
}

function about(subject: OpenBreaker, happenings: readonly Happening[]): readonly HealthNews[] {
  return happenings.map((happening) => ({ ...subject, ...happening }))
}

function keyOf(provider: string, model: string): string {
  return `${provider}\n${model}`
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
