import { isGone } from './age.ts'
import { Chain, type Link } from './chain.ts'
import { memoryLimit, type Buckets } from './memory-limit.ts'
import { noNotices } from './no-notices.ts'
import { Ranking } from './ranking.ts'
import type { Store, StoreOptions, Stores } from './store.ts'

/** What `setTimeout` can wait for. */
const timerMsMost = 2 ** 31 - 1

/** {@link Stores} in this process. */
export interface MemoryStores extends Stores {
  /** Values that take up memory now, in all stores. */
  readonly size: number
}

/** Does some work later, unless it is called off first by what is returned. */
export type Later = (work: () => void, ms: number) => () => void

/**
 * Stores that end with this process. A step costs of the order of log n, n the number of owners. What has expired
 * leaves memory when its store is used, else by a timer, which does not keep the process alive.
 *
 * @param now the wall clock, in Unix milliseconds
 */
export function memoryStores(now: () => number, later: Later = unreferencedTimer): MemoryStores {
  const kept = new Map<string, MemoryStore<unknown>>()
  const counted = new Map<string, Buckets>()
  return {
    // The options of the first opening hold.
    open<Value>(name: string, options: StoreOptions<Value>): Store<Value> {
      const store = kept.get(name) ?? new MemoryStore<unknown>(options, now, later)
      kept.set(name, store)
      // A name has one user (Stores.open), so what it gets is what it put there.
      return store as Store<Value>
    },
    limit(name, options) {
      const buckets = counted.get(name) ?? new Map()
      counted.set(name, buckets)
      return memoryLimit(buckets, options, now)
    },
    notices: () => noNotices,
    get size() {
      return kept.values().reduce((sum, store) => sum + store.size, 0)
    },
    async close() {
      for (const store of kept.values()) store.close()
      kept.clear()
      counted.clear()
    },
  }
}

function unreferencedTimer(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

/** A value came in. */
interface Arrival {
  readonly key: string
  readonly createdAt: number
  /** Higher than that of all who came before. */
  readonly number: number
}

interface Owner {
  readonly name: string
  readonly arrivals: Chain<Arrival>
}

interface Entry<Value> {
  readonly value: Value
  readonly arrival: Arrival
  readonly owner: Owner
  readonly place: Link<Arrival>
  readonly ownPlace: Link<Arrival>
}

/** Who loses first when there is too much: the owner with most values, of equals the one with the oldest. */
function losesBefore(one: Owner, other: Owner): boolean {
  if (one.arrivals.size !== other.arrivals.size) return one.arrivals.size > other.arrivals.size
  return (one.arrivals.oldest?.number ?? 0) < (other.arrivals.oldest?.number ?? 0)
}

class MemoryStore<Value> implements Store<Value> {
  readonly #options: StoreOptions<Value>
  readonly #now: () => number
  readonly #later: Later
  readonly #entries = new Map<string, Entry<Value>>()
  /** One age for all, so the order of arrival is the order of expiry. */
  readonly #arrivals = new Chain<Arrival>()
  readonly #owners = new Map<string, Owner>()
  readonly #ranking = new Ranking(losesBefore)
  #lastNumber = 0
  #cancelTimer: (() => void) | undefined

  constructor(options: StoreOptions<Value>, now: () => number, later: Later) {
    this.#options = options
    this.#now = now
    this.#later = later
  }

  get size(): number {
    return this.#entries.size
  }

  async get(key: string): Promise<Value | undefined> {
    return this.#find(key)
  }

  async set(key: string, value: Value, ownerName: string): Promise<void> {
    this.#forgetExpired()
    this.#forget(key)
    const owner = this.#add(key, value, ownerName)
    if (owner.arrivals.size > this.#options.mostEach) this.#forget(owner.arrivals.oldest?.key)
    if (this.size > this.#options.most) this.#forget(this.#ranking.first?.arrivals.oldest?.key)
    this.#wakeAtExpiry()
  }

  async take(key: string): Promise<Value | undefined> {
    const value = this.#find(key)
    this.#forget(key)
    return value
  }

  async delete(key: string): Promise<void> {
    this.#forget(key)
  }

  close(): void {
    this.#cancelTimer?.()
  }

  #find(key: string): Value | undefined {
    this.#forgetExpired()
    const entry = this.#entries.get(key)
    return entry === undefined || this.#isGone(entry.arrival) ? undefined : entry.value
  }

  #isGone({ createdAt }: Arrival): boolean {
    return isGone(createdAt, this.#now(), this.#options.ttlMs)
  }

  #add(key: string, value: Value, ownerName: string): Owner {
    const owner = this.#owners.get(ownerName) ?? { name: ownerName, arrivals: new Chain() }
    const arrival: Arrival = { key, createdAt: this.#now(), number: ++this.#lastNumber }
    this.#owners.set(ownerName, owner)
    this.#entries.set(key, {
      value,
      arrival,
      owner,
      place: this.#arrivals.append(arrival),
      ownPlace: owner.arrivals.append(arrival),
    })
    this.#ranking.place(owner)
    return owner
  }

  #forget(key: string | undefined): void {
    const entry = key === undefined ? undefined : this.#entries.get(key)
    if (entry === undefined) return
    const { owner, arrival } = entry
    this.#entries.delete(arrival.key)
    this.#arrivals.remove(entry.place)
    owner.arrivals.remove(entry.ownPlace)
    if (owner.arrivals.size > 0) return this.#ranking.place(owner)
    this.#ranking.remove(owner)
    this.#owners.delete(owner.name)
  }

  #forgetExpired(): void {
    for (let { oldest } = this.#arrivals; oldest !== undefined && this.#isGone(oldest); { oldest } = this.#arrivals)
      this.#forget(oldest.key)
  }

  /**
   * One timer at a time, for the oldest. It does not say that something has expired, the clock does: clocks jump, and
   * timers sleep when machines do.
   */
  #wakeAtExpiry(): void {
    const { oldest } = this.#arrivals
    if (oldest === undefined || this.#cancelTimer !== undefined) return
    const { ttlMs } = this.#options
    const ms = oldest.createdAt + ttlMs + 1 - this.#now()
    this.#cancelTimer = this.#later(
      () => {
        this.#cancelTimer = undefined
        this.#forgetExpired()
        this.#wakeAtExpiry()
      },
      Math.max(1, Math.min(ms, ttlMs + 1, timerMsMost)),
    )
  }
}
