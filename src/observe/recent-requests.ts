import { minuteBook, type MinuteSums } from './minute-sums.ts'
import { attemptBook, type ProviderAttempts } from './provider-attempts.ts'
import type { RecordedAttempt, RequestRecord } from './record.ts'

const requestsMost = 1_000
/** Of one request; a trail is longer only where somebody is asked many times over. */
const trailMost = 32
const batchMs = 250

/** A request as it is remembered: its record, without what only the log needs. */
export interface RecentRequest extends Omit<RequestRecord, 'cause' | 'trail'> {
  /** At most the first 32 attempts. */
  readonly trail: readonly Pick<RecordedAttempt, 'name' | 'status' | 'failure' | 'ms'>[]
}

/** Whose requests are wanted. */
export type Scope = 'everybody' | { readonly user: string }

/** What somebody may see of what was recorded. */
export interface Remembered {
  /** How many were recorded so far: the `after` of whoever has this and wants what follows. */
  readonly mark: number
  /** Oldest first. */
  readonly requests: readonly RecentRequest[]
  /** Oldest first. */
  readonly minutes: readonly MinuteSums[]
}

/** The memory of what happened: bounded, gone with the process, and without content. */
export interface RecentRequests {
  /** Remembers one request that has ended. Costs about a microsecond. */
  record(record: RequestRecord): void
  /** How many were recorded so far. As `after` it marks what a reader has. */
  readonly count: number
  /** The last 1,000, oldest first; of these, those that were recorded later than `after`. */
  requests(scope: Scope, after: number): readonly RecentRequest[]
  /**
   * The last sixty minutes, oldest first, those without requests left out; of these, those that something was recorded
   * in later than `after`. Everybody's are of all requests, one user's of those that are remembered.
   */
  minutes(scope: Scope, after: number): readonly MinuteSums[]
  /** Both together, and how far they reach. Without requests later than `after` there are no minutes either. */
  since(scope: Scope, after: number): Remembered
  /** The latest with this id. */
  find(scope: Scope, id: string): RecentRequest | undefined
  /** How one provider is doing. */
  attempts(provider: string): ProviderAttempts
  /**
   * Calls `listener` with the count when something was recorded, at most four times a second.
   *
   * @returns ends it
   */
  subscribe(listener: (count: number) => void): () => void
}

/**
 * Remembers the last 1,000 requests, sixty minutes of sums, and an hour of attempts at each provider.
 *
 * @param now Unix milliseconds
 */
export function recentRequests(now: () => number): RecentRequests {
  const ring: RecentRequest[] = []
  const minutes = minuteBook()
  const attempts = attemptBook()
  let count = 0
  const { announce, subscribe } = batchedListeners(() => count)

  /** Those of the scope with their marks, oldest first. */
  function* marked(scope: Scope, after: number): Generator<readonly [RecentRequest, number]> {
    for (let position = Math.max(after, count - requestsMost); position < count; position += 1) {
      const request = ring[position % requestsMost]
      if (request !== undefined && isOf(request, scope)) yield [request, position + 1]
    }
  }

  function minutesOf(scope: Scope, after: number): readonly MinuteSums[] {
    if (scope === 'everybody') return minutes.list(now(), after)
    const own = minuteBook()
    for (const [request, mark] of marked(scope, 0)) own.add(request, mark)
    return own.list(now(), after)
  }

  const requestsOf = (scope: Scope, after: number): readonly RecentRequest[] =>
    Array.from(marked(scope, after), ([request]) => request)

  return {
    record(record) {
      ring[count % requestsMost] = remembered(record)
      count += 1
      minutes.add(record, count)
      attempts.add(record)
      announce()
    },
    get count() {
      return count
    },
    requests: requestsOf,
    minutes: minutesOf,
    since(scope, after) {
      const requests = requestsOf(scope, after)
      return { mark: count, requests, minutes: requests.length === 0 ? [] : minutesOf(scope, after) }
    },
    find: (scope, id) => Array.from(marked(scope, 0), ([request]) => request).findLast((request) => request.id === id),
    attempts: (provider) => attempts.of(provider, now()),
    subscribe,
  }
}

function isOf({ user }: RecentRequest, scope: Scope): boolean {
  return scope === 'everybody' || user === scope.user
}

/** One literal, and nothing that holds on to an error, a body or a stack. */
function remembered({
  time,
  id,
  model,
  stream,
  status,
  error,
  provider,
  trail,
  firstTokenMs,
  totalMs,
  usage,
  price,
  user,
}: RequestRecord): RecentRequest {
  return {
    time,
    id,
    model,
    stream,
    status,
    error,
    provider,
    trail: trail.slice(0, trailMost).map(bareAttempt),
    firstTokenMs,
    totalMs,
    usage,
    price,
    user,
  }
}

function bareAttempt({ name, status, failure, ms }: RecordedAttempt): RecentRequest['trail'][number] {
  return { name, status, failure, ms }
}

/**
 * Listeners that are told at most four times a second. There is a timer only while something is new and somebody
 * listens.
 */
function batchedListeners(count: () => number) {
  const listeners = new Set<{ readonly tell: (count: number) => void }>()
  let timer: Timer | undefined

  function tellAll(): void {
    timer = undefined
    for (const { tell } of listeners) tell(count())
  }

  return {
    announce(): void {
      if (timer === undefined && listeners.size > 0) timer = setTimeout(tellAll, batchMs)
    },
    subscribe(listener: (count: number) => void): () => void {
      const entry = { tell: listener }
      listeners.add(entry)
      return () => {
        listeners.delete(entry)
        if (listeners.size > 0) return
        clearTimeout(timer)
        timer = undefined
      }
    },
  }
}
