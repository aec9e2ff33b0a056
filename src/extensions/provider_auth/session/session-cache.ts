import { StoreUnavailable, type Store } from '../../../stores/store.ts'

/** How long a value is used from the cache while the store is unavailable. */
const cacheMs = 60_000
/** Values per generation; the cache holds at most two generations. */
const generationMax = 10_000

/** A store of sessions, or of another kind of value that admits, with a cache. */
export interface SessionCache<Value> {
  /** The store itself. Keeps the cache up to date; fails while the store is unavailable. */
  readonly direct: Store<Value>
  /**
   * Like `direct`, but `get` falls back to the cache while the store is unavailable, for values read within the last
   * minute. Those ended in this process since then are excluded; those ended by others are not.
   */
  readonly withFallback: Store<Value>
}

interface CachedValue<Value> {
  readonly value: Value
  /** By the monotonic clock. */
  readonly readAtMs: number
}

/** Values read within the last minute. */
class RecentValues<Value> {
  readonly #elapsedMs: () => number
  readonly #ownerOf: (value: Value) => string
  // Two generations: `older` is dropped as a whole when `recent` is a minute old or full.
  #recent = new Map<string, CachedValue<Value>>()
  #older = new Map<string, CachedValue<Value>>()
  #since: number

  constructor(elapsedMs: () => number, ownerOf: (value: Value) => string) {
    this.#elapsedMs = elapsedMs
    this.#ownerOf = ownerOf
    this.#since = elapsedMs()
  }

  remember(key: string, value: Value): void {
    const now = this.#elapsedMs()
    if (now - this.#since > cacheMs || this.#recent.size >= generationMax) {
      this.#older = this.#recent
      this.#recent = new Map()
      this.#since = now
    }
    this.#recent.set(key, { value, readAtMs: now })
  }

  recall(key: string): Value | undefined {
    const cached = this.#recent.get(key) ?? this.#older.get(key)
    return cached !== undefined && this.#elapsedMs() - cached.readAtMs <= cacheMs ? cached.value : undefined
  }

  forget(key: string): void {
    this.#recent.delete(key)
    this.#older.delete(key)
  }

  forgetAll(owner: string): void {
    for (const generation of [this.#recent, this.#older])
      for (const [key, { value }] of generation) if (this.#ownerOf(value) === owner) generation.delete(key)
  }
}

/**
 * Caches values read from a store, so that users with a recent request can go on while it is unavailable
 * (docs/sign-in.md, "Several machines").
 *
 * @param elapsedMs a monotonic clock
 * @param ownerOf the owner of a value
 */
export function sessionCache<Value>(
  store: Store<Value>,
  elapsedMs: () => number,
  ownerOf: (value: Value) => string,
): SessionCache<Value> {
  const recent = new RecentValues(elapsedMs, ownerOf)

  async function get(key: string): Promise<Value | undefined> {
    const value = await store.get(key)
    if (value === undefined) recent.forget(key)
    else recent.remember(key, value)
    return value
  }

  /** Forgets again afterwards, since a concurrent `get` may have cached the session meanwhile. */
  async function ending<Result>(forget: () => void, work: () => Promise<Result>): Promise<Result> {
    forget()
    try {
      return await work()
    } finally {
      forget()
    }
  }

  const endingOf = <Result>(key: string, work: () => Promise<Result>) => ending(() => recent.forget(key), work)
  const direct: Store<Value> = {
    get,
    set: (key, value, owner) => store.set(key, value, owner),
    take: (key) => endingOf(key, () => store.take(key)),
    takeAll: (owner) =>
      ending(
        () => recent.forgetAll(owner),
        () => store.takeAll(owner),
      ),
    delete: (key) => endingOf(key, () => store.delete(key)),
    list: (most) => store.list(most),
  }
  async function getOrRecall(key: string): Promise<Value | undefined> {
    try {
      return await get(key)
    } catch (error) {
      const value = error instanceof StoreUnavailable ? recent.recall(key) : undefined
      if (value === undefined) throw error
      return value
    }
  }
  return { direct, withFallback: { ...direct, get: getOrRecall } }
}
