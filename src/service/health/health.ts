import { isWhole, requestFailures, type FailureClass, type UpstreamFailure } from '../failure.ts'
import { StartedAttempt, type AttemptHealth } from './attempt-health.ts'
import { KeyDoubts } from './cool-down.ts'
import type { HealthChange, HealthEvent } from './health-event.ts'
import { healthState, type HealthState, type Unavailability } from './health-state.ts'

const modelsMax = 10_000
const snapshotEventsMax = 1_000

/** A provider, or one model at it, as named in events. */
type Subject = OpenBreaker & { readonly target?: string }

interface TrackedHealth {
  readonly subject: Subject
  readonly state: HealthState
}

interface TrackedProvider extends TrackedHealth {
  readonly doubts: KeyDoubts
}

/** The health of one provider for one model. */
export interface Health {
  /** Why it should be skipped now; `undefined`: it is available. */
  unavailable(): Unavailability | undefined
  begin(): AttemptHealth
  /** An attempt failed and will be retried: only its Retry-After counts, for other requests. */
  retrying(failure: UpstreamFailure): void
}

/** An open breaker, for metrics and display. */
export interface OpenBreaker {
  readonly provider: string
  /** Absent: the whole provider. */
  readonly model?: string
}

/** Health of a provider, for display. */
export interface ProviderHealth {
  /** Why the whole provider is unavailable; `undefined`: it is available. */
  readonly unavailable: Unavailability | undefined
  /** Failure of the last attempt, unless it succeeded or the request itself was at fault. */
  readonly failure: FailureClass | undefined
  /** Unavailable models. */
  readonly models: readonly ModelHealth[]
}

/** An unavailable model at a provider. */
export interface ModelHealth {
  readonly model: string
  readonly unavailable: Unavailability
  readonly failure: FailureClass | undefined
}

/**
 * The health of every provider, and of every model at each. It survives reloads of the configuration for providers
 * whose target stays the same.
 */
export interface HealthBook {
  /** @param target protocol, address and account of the provider, as one string. Each target has its own health */
  of(provider: string, model: string, target?: string): Health
  /** The provider refused its key for the list of models: one of the grounds to rest it. */
  keyRefused(provider: string, target?: string): void
  /** Sets the current targets, by provider name, and forgets the health of others. Before the first call all count. */
  setTargets(targets: ReadonlyMap<string, string>): void
  openBreakers(): readonly OpenBreaker[]
  /** Current health of all providers that were used. Visits every entry, so not for the path of a request. */
  inspect(): ReadonlyMap<string, ProviderHealth>
  /**
   * Publishes events of this process's own attempts: shared failures, the first success after them, and probes. Events
   * from {@link apply} are not published again. The listener runs on the path of requests and must not throw.
   */
  subscribe(listener: (event: HealthEvent) => void): void
  /** Applies a health event of another process. Events of one sender must arrive in order. */
  apply(event: HealthEvent): void
  /**
   * The events that bring a new process up to date, in order: at most 1,000, providers before models, the most recently
   * requested models first.
   */
  snapshot(): readonly HealthEvent[]
}

/** @param now milliseconds on a monotonic clock */
export function healthBook(now: () => number, random?: () => number): HealthBook {
  const providers = new Map<string, TrackedProvider>()
  /**
   * By provider, target and model, least recently used first. Bounded, since callers can invent model names for
   * providers whose models are unknown.
   */
  const models = new Map<string, TrackedHealth>()
  /** The last of them. */
  let lastUsed: TrackedHealth | undefined
  const listeners: ((event: HealthEvent) => void)[] = []
  let targets: ReadonlyMap<string, string> | undefined

  function entryOf(subject: Subject): TrackedHealth {
    const publish = (event: HealthChange): void => {
      for (const listener of listeners) listener({ ...subject, ...event })
    }
    return { subject, state: healthState(now, random, publish) }
  }

  function isCurrent({ subject: { provider, target } }: TrackedHealth): boolean {
    return targets === undefined || (target !== undefined && targets.get(provider) === target)
  }

  function providerEntry(provider: string, target: string | undefined): TrackedProvider {
    const key = keyOf(provider, target)
    const subject = target === undefined ? { provider } : { provider, target }
    const known = providers.get(key) ?? { ...entryOf(subject), doubts: new KeyDoubts() }
    providers.set(key, known)
    return known
  }

  function modelState(
    provider: string,
    target: string | undefined,
    model: string,
  ): { readonly state: HealthState; readonly use: () => void } {
    const key = keyOf(provider, target, model)
    const entry = models.get(key) ?? entryOf(target === undefined ? { provider, model } : { provider, target, model })
    touch(key, entry)
    const [oldest] = models.keys()
    if (models.size > modelsMax && oldest !== undefined) models.delete(oldest)
    return { state: entry.state, use: () => touch(key, entry) }
  }

  function touch(key: string, entry: TrackedHealth): void {
    if (entry === lastUsed) return
    lastUsed = entry
    models.delete(key)
    models.set(key, entry)
  }

  /** The state that an event concerns. Only failures and restrictions create one. */
  function stateOf(event: HealthEvent): HealthState | undefined {
    const { provider, model, target } = event
    if (!isHarmful(event)) return (model === undefined ? providers : models).get(keyOf(provider, target, model))?.state
    const { state: ofProvider } = providerEntry(provider, target)
    return model === undefined ? ofProvider : modelState(provider, target, model).state
  }

  return {
    of(provider, model, target) {
      const { state: ofProvider, doubts } = providerEntry(provider, target)
      const { state: ofModel, use } = modelState(provider, target, model)
      return {
        unavailable: () => ofProvider.unavailable() ?? ofModel.unavailable(),
        begin() {
          use()
          return new StartedAttempt(ofProvider, ofModel, doubts, model)
        },
        retrying(failure) {
          ;(isWhole(failure.scope) ? ofProvider : ofModel).retrying(failure)
        },
      }
    },
    keyRefused(provider, target) {
      providerEntry(provider, target).doubts.confirmByList()
    },
    setTargets(next) {
      for (const entries of [providers, models])
        for (const [key, { subject }] of entries) if (next.get(subject.provider) !== subject.target) entries.delete(key)
      targets = next
      lastUsed = undefined
    },
    openBreakers() {
      return [...providers.values(), ...models.values()]
        .filter((entry) => entry.state.isOpen && isCurrent(entry))
        .map(({ subject: { target: _, ...breaker } }) => breaker)
    },
    inspect() {
      const modelsByProvider = Map.groupBy(models.values().filter(isCurrent), ({ subject }) => subject.provider)
      return new Map(
        providers
          .values()
          .filter(isCurrent)
          // A refused list of models alone is no use of a provider.
          .filter(({ subject: { provider }, state: { lastOutcome } }) => lastOutcome ?? modelsByProvider.has(provider))
          .map(({ subject: { provider }, state: ofProvider }) => [
            provider,
            inspectProvider(ofProvider, modelsByProvider.get(provider) ?? []),
          ]),
      )
    },
    subscribe(listener) {
      listeners.push(listener)
    },
    apply(event) {
      stateOf(event)?.apply(event)
    },
    snapshot() {
      return [...providers.values(), ...[...models.values()].reverse()].flatMap(eventsOf).slice(0, snapshotEventsMax)
    },
  }
}

function eventsOf({ subject, state: known }: TrackedHealth): readonly HealthEvent[] {
  return known.snapshot().map((event) => ({ ...subject, ...event }))
}

function keyOf(provider: string, target = '', model = ''): string {
  return `${provider}\n${target}\n${model}`
}

function isHarmful(event: HealthEvent): boolean {
  return (
    event.kind === 'failed' ||
    event.kind === 'snapshot' ||
    ('restrictions' in event && event.restrictions !== undefined)
  )
}

/** @param entries of its models, most recently used last */
function inspectProvider(ofProvider: HealthState, entries: readonly TrackedHealth[]): ProviderHealth {
  const last = entries.findLast(({ state: { lastOutcome } }) => lastOutcome !== undefined)
  return {
    unavailable: ofProvider.unavailable(),
    failure: failureOf(ofProvider) ?? (last === undefined ? undefined : failureOf(last.state)),
    models: entries.flatMap(({ subject: { model = '' }, state: ofModel }) => {
      const unavailable = ofModel.unavailable()
      return unavailable === undefined ? [] : [{ model, unavailable, failure: failureOf(ofModel) }]
    }),
  }
}

/** Failure of the last attempt. Faults of the request itself are no failures of the upstream. */
function failureOf({ lastOutcome }: HealthState): FailureClass | undefined {
  return lastOutcome === undefined || lastOutcome === 'answered' || requestFailures.has(lastOutcome)
    ? undefined
    : lastOutcome
}
