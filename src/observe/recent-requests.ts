import type { Caller, Person } from '../people/person.ts'
import { minuteBook } from './minute-sums.ts'
import { attemptBook, type ProviderAttempts } from './provider-attempts.ts'
import { rememberedEntry, trailMax, type RequestRecord } from './record.ts'
import type { MinuteSums, RequestEntry } from './request-entry.ts'

const requestsMax = 1_000
const batchMs = 250

/** Whose requests are returned: those of all users, of a person, or of a line of keys. */
export type Scope = 'all users' | Pick<Person, 'id'> | { readonly line: number }

/** The remembered requests of a scope. */
export interface Remembered {
  /** Number of requests recorded so far. As `after` of a later call it selects the requests recorded since. */
  readonly mark: number
  /** Oldest first. */
  readonly requests: readonly RequestEntry[]
  /** Oldest first. */
  readonly minutes: readonly MinuteSums[]
}

/** The recent requests: bounded, in memory only, without content. */
export interface RecentRequests {
  /** Adds one request that has ended. Costs about a microsecond. */
  record(record: RequestRecord): void
  /** Number of requests recorded so far. */
  readonly count: number
  /** Of the last 1,000 requests, those recorded later than `after`, oldest first. */
  requests(scope: Scope, after: number): readonly RequestEntry[]
  /**
   * Of the last sixty minutes, those with requests recorded later than `after`, oldest first. Sums of all users include
   * all requests; those of one user include the last 1,000 requests only.
   */
  minutes(scope: Scope, after: number): readonly MinuteSums[]
  /** Requests and minutes together. Without requests later than `after` there are no minutes either. */
  since(scope: Scope, after: number): Remembered
  /** The latest request with this id. */
  find(scope: Scope, id: string): RequestEntry | undefined
  /** The last 1,000 callers with a name, the one that asked last first. */
  callers(): readonly Caller[]
  /** Outcomes of attempts at one provider. */
  attempts(provider: string): ProviderAttempts
  /**
   * Calls `listener` with the count after requests were recorded, at most four times a second.
   *
   * @returns unsubscribes
   */
  subscribe(listener: (count: number) => void): () => void
}

/**
 * Remembers the last 1,000 requests, sixty minutes of sums, and an hour of attempts at each provider.
 *
 * @param now Unix milliseconds
 */
export function recentRequests(now: () => number): RecentRequests {
  const ring: RequestRecord[] = []
  const minutes = minuteBook()
  const attempts = attemptBook()
  const callers = recentCallers()
  let count = 0
  const { announce, subscribe } = batchedListeners(() => count)

  /** Requests of the scope with their marks, oldest first. */
  function* marked(scope: Scope, after: number): Generator<readonly [RequestRecord, number]> {
    for (let position = Math.max(after, count - requestsMax); position < count; position += 1) {
      const request = ring[position % requestsMax]
      if (request !== undefined && isOf(request, scope)) yield [request, position + 1]
    }
  }

  function minutesOf(scope: Scope, after: number): readonly MinuteSums[] {
    if (scope === 'all users') return minutes.list(now(), after)
    const own = minuteBook()
    for (const [request, mark] of marked(scope, 0)) own.add(request, mark)
    return own.list(now(), after)
  }

  const requestsOf = (scope: Scope, after: number): readonly RequestEntry[] =>
    Array.from(marked(scope, after), ([request]) => rememberedEntry(request))

  return {
    record(record) {
      ring[count % requestsMax] = bare(record)
      count += 1
      minutes.add(record, count)
      attempts.add(record)
      callers.note(record)
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
    find(scope, id) {
      const found = Array.from(marked(scope, 0), ([request]) => request).findLast((request) => request.id === id)
      return found && rememberedEntry(found)
    },
    callers: callers.list,
    attempts: (provider) => attempts.of(provider, now()),
    subscribe,
  }
}

/** Whether a request belongs to a scope. */
export function isOf(record: Pick<RequestRecord, 'line' | 'person'>, scope: Scope): boolean {
  if (scope === 'all users') return true
  return 'line' in scope ? record.line === scope.line : record.person?.id === scope.id
}

/**
 * The record without reasons, which may keep the body of an error in memory. A record without failures is kept itself:
 * a copy of each would cost more than all other observation.
 */
function bare(record: RequestRecord): RequestRecord {
  const { trail } = record
  const isBare = trail.length <= trailMax && trail.every(({ reason }) => reason === undefined)
  return isBare ? record : { ...record, trail: trail.slice(0, trailMax).map(({ reason: _, ...attempt }) => attempt) }
}

/** Listeners that are called at most four times a second. The timer runs only after a record and with listeners. */
function batchedListeners(count: () => number) {
  const listeners = new Set<{ readonly notify: (count: number) => void }>()
  let timer: Timer | undefined

  function notifyAll(): void {
    timer = undefined
    for (const { notify } of listeners) notify(count())
  }

  return {
    announce(): void {
      if (timer === undefined && listeners.size > 0) timer = setTimeout(notifyAll, batchMs)
    },
    subscribe(listener: (count: number) => void): () => void {
      const entry = { notify: listener }
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

/** Callers by their last request, in memory only. */
interface RecentCallers {
  note(record: RequestRecord): void
  /** The one that asked last comes first. */
  list(): readonly Caller[]
}

const callersMax = 1_000

/** Remembers the last 1,000 callers with a name. */
export function recentCallers(): RecentCallers {
  /** By the lines of keys, and the ids of users. */
  const callers = new Map<number | string, Caller>()
  return {
    note({ user, person, line }) {
      const id = line ?? person?.id
      if (id === undefined) return
      callers.delete(id)
      callers.set(id, {
        ...(user === undefined ? {} : { name: user }),
        ...(person === undefined ? {} : { person }),
        ...(line === undefined ? {} : { key: { line } }),
      })
      if (callers.size <= callersMax) return
      for (const [oldest] of callers) {
        callers.delete(oldest)
        return
      }
    },
    list: () => [...callers.values()].toReversed(),
  }
}
