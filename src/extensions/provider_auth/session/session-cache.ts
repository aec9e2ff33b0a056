import { StoreUnavailable, type Store } from '../../../stores/store.ts'
import { ownerOf, type Session } from './sessions.ts'

/** How long a session is used from the cache while the store is unavailable. */
const cacheMs = 60_000
/** Sessions per generation; the cache holds at most two generations. */
const generationMax = 10_000

/** A session store with a cache. */
export interface SessionCache {
  /** The store itself. Keeps the cache up to date; fails while the store is unavailable. */
  readonly direct: Store<Session>
  /**
   * Like `direct`, but `get` falls back to the cache while the store is unavailable, for sessions read within the last
   * minute. Sessions ended in this process since then are excluded; those ended by other processes are not.
   */
  readonly withFallback: Store<Session>
}

interface CachedSession {
  readonly session: Session
  /** By the monotonic clock. */
  readonly readAtMs: number
}

/** Sessions read within the last minute. */
class RecentSessions {
  readonly #elapsedMs: () => number
  // Two generations: `older` is dropped as a whole when `recent` is a minute old or full.
  #recent = new Map<string, CachedSession>()
  #older = new Map<string, CachedSession>()
  #since: number

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
    this.#since = elapsedMs()
  }

  remember(key: string, session: Session): void {
    const now = this.#elapsedMs()
    if (now - this.#since > cacheMs || this.#recent.size >= generationMax) {
      this.#older = this.#recent
      this.#recent = new Map()
      this.#since = now
    }
    this.#recent.set(key, { session, readAtMs: now })
  }

  recall(key: string): Session | undefined {
    const cached = this.#recent.get(key) ?? this.#older.get(key)
    return cached !== undefined && this.#elapsedMs() - cached.readAtMs <= cacheMs ? cached.session : undefined
  }

  forget(key: string): void {
    this.#recent.delete(key)
    this.#older.delete(key)
  }

  forgetAll(owner: string): void {
    for (const generation of [this.#recent, this.#older])
      for (const [key, { session }] of generation) if (ownerOf(session) === owner) generation.delete(key)
  }
}

/**
 * Caches sessions read from a store, so that users with a recent request can go on while it is unavailable
 * (docs/sign-in.md, "Several machines").
 *
 * @param elapsedMs a monotonic clock
 */
export function sessionCache(store: Store<Session>, elapsedMs: () => number): SessionCache {
  const recent = new RecentSessions(elapsedMs)

  async function get(key: string): Promise<Session | undefined> {
    const session = await store.get(key)
    if (session === undefined) recent.forget(key)
    else recent.remember(key, session)
    return session
  }

  /** Forgets again afterwards, since a concurrent `get` may have cached the session meanwhile. */
  async function ending<Value>(forget: () => void, work: () => Promise<Value>): Promise<Value> {
    forget()
    try {
      return await work()
    } finally {
      forget()
    }
  }

  const endingOf = <Value>(key: string, work: () => Promise<Value>) => ending(() => recent.forget(key), work)
  const direct: Store<Session> = {
    get,
    set: (key, session, owner) => store.set(key, session, owner),
    take: (key) => endingOf(key, () => store.take(key)),
    takeAll: (owner) =>
      ending(
        () => recent.forgetAll(owner),
        () => store.takeAll(owner),
      ),
    delete: (key) => endingOf(key, () => store.delete(key)),
    list: (most) => store.list(most),
  }
  async function getOrRecall(key: string): Promise<Session | undefined> {
    try {
      return await get(key)
    } catch (error) {
      const session = error instanceof StoreUnavailable ? recent.recall(key) : undefined
      if (session === undefined) throw error
      return session
    }
  }
  return { direct, withFallback: { ...direct, get: getOrRecall } }
}
