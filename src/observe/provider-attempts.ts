import { wasSent, type RecordedAttempt, type RequestRecord } from './record.ts'

const hourMs = 3_600_000
const attemptsMax = 500
const providersMax = 1_000
const lessonsMax = 20
/** As long as a lesson is remembered (`profiles/resolve-profile.ts`). */
const lessonMs = 24 * hourMs

/** Outcomes of at most the last 500 attempts at one provider, within the last hour. */
export interface ProviderAttempts {
  readonly count: number
  /** Attempts that answered. */
  readonly ok: number
  /** Milliseconds to the first token of successful streams; `undefined` without streams. */
  readonly firstTokenP50: number | undefined
  readonly firstTokenP95: number | undefined
  /** The last failed attempt, of any age. */
  readonly lastError: AttemptError | undefined
  /** Traits that refusals have taught within the last day, at most the last 20. Absent: none. */
  readonly lessons?: readonly TaughtTrait[]
}

/** The outcomes at a provider that was not asked. */
export const noAttempts: ProviderAttempts = {
  count: 0,
  ok: 0,
  firstTokenP50: undefined,
  firstTokenP95: undefined,
  lastError: undefined,
}

/** A trait of a model, by a request that was taken once it had the other form. */
export interface TaughtTrait {
  /** Unix milliseconds, approximately. */
  readonly time: number
  /** The model's name in the configuration or a model list. */
  readonly model: string
  readonly trait: string
}

/** An attempt that failed. */
export interface AttemptError {
  /** Unix milliseconds, approximately. */
  readonly time: number
  readonly failure: string
  /** Short, without secrets. */
  readonly reason: string | undefined
  /** The model as the caller named it. */
  readonly model: string
  /** HTTP status, if the provider sent one. */
  readonly status: number | undefined
}

/** The attempts at each provider. */
export interface AttemptBook {
  add(record: Pick<RequestRecord, 'time' | 'model' | 'listedAs' | 'stream' | 'trail'>): void
  of(provider: string, now: number): ProviderAttempts
}

interface KeptAttempt {
  time: number
  isOk: boolean
  firstTokenMs: number | undefined
}

interface History {
  /** The last 500 attempts, in a ring. Its objects are used again: new ones would become old ones of the collector. */
  readonly kept: KeptAttempt[]
  next: number
  lastError: AttemptError | undefined
  lessons: readonly TaughtTrait[]
}

/**
 * Makes an empty book of at most 1,000 providers. Providers that were skipped are not in a trail and not counted.
 * Attempts that failed because this service was out of resources, or that a limit of money passed over, are not counted
 * either.
 */
export function attemptBook(): AttemptBook {
  const histories = new Map<string, History>()

  function historyOf(provider: string): History {
    const known = histories.get(provider)
    if (known !== undefined) return known
    if (histories.size >= providersMax) for (const [oldest] of histories.entries().take(1)) histories.delete(oldest)
    const made: History = { kept: [], next: 0, lastError: undefined, lessons: [] }
    histories.set(provider, made)
    return made
  }

  return {
    add({ time, model, listedAs = model, stream, trail }) {
      let ended = time
      for (const attempt of trail) {
        ended += attempt.ms
        if (attempt.failure === 'resources' || !wasSent(attempt)) continue
        const history = historyOf(attempt.name)
        keep(history, attempt, ended, stream)
        if (attempt.adapted !== undefined && attempt.failure === undefined)
          history.lessons = withTraits(history.lessons, attempt.adapted, { time: ended, model: listedAs })
        if (attempt.failure !== undefined && ended >= (history.lastError?.time ?? 0)) {
          const { failure, reason, status } = attempt
          history.lastError = { time: ended, failure, reason, model, status }
        }
      }
    },
    of(provider, now) {
      const { kept = [], lastError, lessons = [] } = histories.get(provider) ?? {}
      const recent = kept.filter((each) => each.time > now - hourMs)
      const firstTokens = recent.flatMap(({ firstTokenMs }) => firstTokenMs ?? []).toSorted((one, other) => one - other)
      return {
        count: recent.length,
        ok: recent.filter(({ isOk }) => isOk).length,
        firstTokenP50: percentile(firstTokens, 0.5),
        firstTokenP95: percentile(firstTokens, 0.95),
        lastError,
        ...lessonsSince(lessons, now - lessonMs),
      }
    },
  }
}

/** The duration of a successful attempt at a stream is the time to its first token. */
function keep(history: History, { failure, ms }: RecordedAttempt, time: number, stream: boolean): void {
  const kept = (history.kept[history.next] ??= { time, isOk: true, firstTokenMs: undefined })
  kept.time = time
  kept.isOk = failure === undefined
  kept.firstTokenMs = kept.isOk && stream ? ms : undefined
  history.next = (history.next + 1) % attemptsMax
}

function lessonsSince(known: readonly TaughtTrait[], time: number): Pick<ProviderAttempts, 'lessons'> {
  const lessons = known.filter((each) => each.time > time)
  return lessons.length === 0 ? {} : { lessons }
}

/** Each trait of a model once, with its last time. */
function withTraits(
  known: readonly TaughtTrait[],
  traits: readonly string[],
  { time, model }: Pick<TaughtTrait, 'time' | 'model'>,
): readonly TaughtTrait[] {
  const others = known.filter((each) => each.model !== model || !traits.includes(each.trait))
  return [...others, ...traits.map((trait) => ({ time, model, trait }))].slice(-lessonsMax)
}

function percentile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.ceil(share * sorted.length) - 1]
}
