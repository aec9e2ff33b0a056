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

/**
 * Caches sessions read from a store, so that users with a recent request can go on while it is unavailable
 * (docs/sign-in.md, "Several machines").
 *
 * @param elapsedMs a monotonic clock
 */
export function sessionCache(store: Store<Session>, elapsedMs: () => number): SessionCache {
  // Two generations: `older` is dropped as a whole when `recent` is a minute old or full.
  let recent = new Map<string, CachedSession>(),
    older = new Map<string, CachedSession>()
  let since = elapsedMs()

  function remember(key: string, session: Session): void {
    const now = elapsedMs()
    if (now - since > cacheMs || recent.size >= generationMax) {
      older = recent
      recent = new Map()
      since = now
    }
    recent.set(key, { session, readAtMs: now })
  }

  function forget(key: string): void {
    recent.delete(key)
    older.delete(key)
  }

  function recall(key: string): Session | undefined {
    const cached = recent.get(key) ?? older.get(key)
    return cached !== undefined && elapsedMs() - cached.readAtMs <= cacheMs ? cached.session : undefined
  }

  async function get(key: string): Promise<Session | undefined> {
    const session = await store.get(key)
    if (session === undefined) forget(key)
    else remember(key, session)
    return session
  }

  function forgetAll(owner: string): void {
    for (const generation of [recent, older])
      for (const [key, { session }] of generation) if (ownerOf(session) === owner) generation.delete(key)
  }

  /** Forgets again afterwards, since a concurrent `get` may have cached the session meanwhile. */
  async function ending<Value>(forgetEnded: () => void, work: () => Promise<Value>): Promise<Value> {
    forgetEnded()
    try {
      return await work()
    } finally {
      forgetEnded()
    }
  }

  const direct: Store<Session> = {
    get,
    set: (key, session, owner) => store.set(key, session, owner),
    take: (key) =>
      ending(
        () => forget(key),
        () => store.take(key),
      ),
    takeAll: (owner) =>
      ending(
        () => forgetAll(owner),
        () => store.takeAll(owner),
      ),
    delete: (key) =>
      ending(
        () => forget(key),
        () => store.delete(key),
      ),
  }
  return {
    direct,
    withFallback: {
      ...direct,
      async get(key) {
        try {
          return await get(key)
        } catch (error) {
          const session = error instanceof StoreUnavailable ? recall(key) : undefined
          if (session === undefined) throw error
          return session
        }
      },
    },
  }
}
