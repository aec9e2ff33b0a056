import { circuit, type Circuit, type Unavailability } from './circuit.ts'
import { requestFailures, type FailureClass } from './failure.ts'
import { BegunAttempt, type AttemptHealth } from './health-attempt.ts'
import { probeMsMost, type Happening, type HealthNews } from './health-news.ts'

const modelsMost = 10_000
/** Of whom others told. Who is asked here is known from the configuration, which bounds it. */
const providersMost = 1_000
const standingMost = 1_000

/** A provider, or one model at it, as it is told of. */
type Subject = OpenBreaker & { readonly target?: string }

interface Entry {
  readonly subject: Subject
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

/**
 * The health of every provider and of every model at each; it outlives reloads of the configuration, as long as what a
 * provider is stays the same.
 */
export interface HealthBook {
  /**
   * @param target what is meant by the provider's name: where requests go, and on whose account. Each has a health of
   *   its own
   */
  of(provider: string, model: string, target?: string): Health
  /**
   * Says what is meant by the names of providers from now on: name → target. What was known of another is forgotten.
   * Until it is first said, whatever is known counts.
   */
  setTargets(targets: ReadonlyMap<string, string>): void
  openBreakers(): readonly OpenBreaker[]
  /**
   * All providers that were asked, as they are now. Walks through everything that is known: not for the path of a
   * request.
   */
  look(): ReadonlyMap<string, ProviderHealth>
  /**
   * What others should know of this process's own attempts is told as it happens: failures that count, what ends the
   * trouble, and probes. Nothing while all is well. Of what it hears nothing is told on. The listener is called on the
   * path of a request: it must be quick, and must not throw.
   */
  onNews(listener: (news: HealthNews) => void): void
  /**
   * Takes over what another process has learned. News of one teller must come in the order of their telling. What is
   * not meant here (see `setTargets`) is let go when its trouble is over by its own time, or when more than 1,000
   * providers are known: then what was not heard of for longest.
   */
  hear(news: HealthNews): void
  /**
   * What a newcomer should hear now, in order: at most 1,000, first of those that are meant (see `setTargets`), and of
   * them whole providers before models, those wanted last first.
   */
  standing(): readonly HealthNews[]
}

/** @param now milliseconds on a monotonic clock */
export function healthBook(now: () => number, random?: () => number): HealthBook {
  const providers = new Map<string, Entry>()
  /**
   * By provider, target and model, least recently wanted first: a caller can make names up where a provider's models
   * are not known.
   */
  const models = new Map<string, Entry>()
  const listeners: ((news: HealthNews) => void)[] = []
  let targets: ReadonlyMap<string, string> | undefined
  let lookedThroughAt = -Infinity

  function entryOf(subject: Subject): Entry {
    const tell = (happening: Happening): void => {
      for (const listener of listeners) listener({ ...subject, ...happening })
    }
    return { subject, circuit: circuit(now, random, tell) }
  }

  function isMeant(provider: string, target: string | undefined): boolean {
    return target !== undefined && targets?.get(provider) === target
  }

  function isShown({ subject: { provider, target } }: Entry): boolean {
    return targets === undefined || isMeant(provider, target)
  }

  function ofProvider(provider: string, target: string | undefined): Circuit {
    const key = keyOf(provider, target)
    const known = providers.get(key) ?? entryOf(target === undefined ? { provider } : { provider, target })
    providers.set(key, known)
    return known.circuit
  }

  function ofModel(
    provider: string,
    target: string | undefined,
    model: string,
  ): { readonly circuit: Circuit; readonly want: () => void } {
    const key = keyOf(provider, target, model)
    const entry = models.get(key) ?? entryOf(target === undefined ? { provider, model } : { provider, target, model })
    touch(models, key, entry)
    const [oldest] = models.keys()
    if (models.size > modelsMost && oldest !== undefined) models.delete(oldest)
    return { circuit: entry.circuit, want: () => touch(models, key, entry) }
  }

  function isOver(entry: Entry): boolean {
    return !isShown(entry) && entry.circuit.mattersUntil <= now()
  }

  /** Walks through all that is known only now and then. */
  function letGoOfWhatIsOver(): void {
    if (now() < lookedThroughAt + probeMsMost) return
    lookedThroughAt = now()
    for (const entries of [providers, models])
      for (const [key, entry] of entries) if (isOver(entry)) entries.delete(key)
  }

  /** For a provider that is not meant here. */
  function hasRoomFor(key: string): boolean {
    letGoOfWhatIsOver()
    const known = providers.get(key)
    if (known !== undefined) touch(providers, key, known)
    if (known !== undefined || providers.size < providersMost) return true
    const oldest = providers.entries().find(([, { subject }]) => !isMeant(subject.provider, subject.target))
    return oldest !== undefined && providers.delete(oldest[0])
  }

  /** Only trouble makes an entry: of whom nothing is known, nothing is to be ended. */
  function heardOf(news: HealthNews): Circuit | undefined {
    const { provider, model, target = targets?.get(provider) } = news
    if (!isTrouble(news)) return (model === undefined ? providers : models).get(keyOf(provider, target, model))?.circuit
    if (!isMeant(provider, target) && !hasRoomFor(keyOf(provider, target))) return undefined
    const whole = ofProvider(provider, target)
    return model === undefined ? whole : ofModel(provider, target, model).circuit
  }

  return {
    of(provider, model, target) {
      const whole = ofProvider(provider, target)
      const { circuit: single, want } = ofModel(provider, target, model)
      return {
        unavailable: () => whole.unavailable() ?? single.unavailable(),
        begin() {
          want()
          return new BegunAttempt(whole, single)
        },
      }
    },
    setTargets(next) {
      const isPast = ({ subject: { provider, target } }: Entry): boolean =>
        targets?.get(provider) === target && next.get(provider) !== target
      for (const entries of [providers, models])
        for (const [key, entry] of entries) if (isPast(entry)) entries.delete(key)
      targets = next
    },
    openBreakers() {
      return [...providers.values(), ...models.values()]
        .filter((entry) => entry.circuit.isOpen && isShown(entry))
        .map(({ subject: { target: _, ...breaker } }) => breaker)
    },
    look() {
      const ofProviders = Map.groupBy(models.values().filter(isShown), ({ subject }) => subject.provider)
      return new Map(
        providers
          .values()
          .filter(isShown)
          .map(({ subject: { provider }, circuit: whole }) => [
            provider,
            lookAt(whole, ofProviders.get(provider) ?? []),
          ]),
      )
    },
    onNews(listener) {
      listeners.push(listener)
    },
    hear(news) {
      heardOf(news)?.hear(news)
    },
    standing() {
      const all = [...providers.values(), ...[...models.values()].reverse()].filter((entry) => !isOver(entry))
      return [...all.filter(isShown), ...all.filter((entry) => !isShown(entry))].flatMap(about).slice(0, standingMost)
    },
  }
}

function about({ subject, circuit: known }: Entry): readonly HealthNews[] {
  return known.standing().map((happening) => ({ ...subject, ...happening }))
}

function touch(entries: Map<string, Entry>, key: string, entry: Entry): void {
  entries.delete(key)
  entries.set(key, entry)
}

function keyOf(provider: string, target = '', model = ''): string {
  return `${provider}\n${target}\n${model}`
}

function isTrouble(news: HealthNews): boolean {
  return news.kind === 'failed' || news.kind === 'standing' || ('heldOff' in news && news.heldOff !== undefined)
}

/** @param entries the last wanted last: what came of it is what the provider did last */
function lookAt(whole: Circuit, entries: readonly Entry[]): ProviderHealth {
  const last = entries.findLast(({ circuit: { lastOutcome } }) => lastOutcome !== undefined)
  return {
    unavailable: whole.unavailable(),
    failure: failureOf(whole) ?? (last === undefined ? undefined : failureOf(last.circuit)),
    models: entries.flatMap(({ subject: { model = '' }, circuit: single }) => {
      const unavailable = single.unavailable()
      return unavailable === undefined ? [] : [{ model, unavailable, failure: failureOf(single) }]
    }),
  }
}

/** What is wrong with an upstream. A request that was at fault says nothing of it. */
function failureOf({ lastOutcome }: Circuit): FailureClass | undefined {
  return lastOutcome === undefined || lastOutcome === 'answered' || requestFailures.has(lastOutcome)
    ? undefined
    : lastOutcome
}
