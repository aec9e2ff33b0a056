import { isExpired } from './age.ts'
import { Ranking } from './ranking.ts'
import type { Limit, LimitOptions, Listed, Store, StoreOptions, Stores } from './store.ts'

/** The longest delay of `setTimeout`. */
const timerMsMax = 2 ** 31 - 1

/** {@link Stores} in this process. */
export interface MemoryStores extends Stores {
  /** Values in memory, of all stores. */
  readonly size: number
}

/** Schedules work. @returns cancels it */
export type Later = (work: () => void, ms: number) => () => void

/**
 * Stores that end with this process. A step takes O(log owners). Expired values leave memory when their store is used,
 * else by a timer, which does not keep the process alive.
 *
 * @param now Unix milliseconds
 */
export function memoryStores(now: () => number, later: Later = unreferencedTimer): MemoryStores {
  const kept = new Map<string, MemoryStore<unknown>>()
  const counted = new Map<string, Buckets>()
  return {
    // The options of the first call count.
    open<Value>(name: string, options: StoreOptions<Value>): Store<Value> {
      const store = kept.get(name) ?? new MemoryStore<unknown>(options, now, later)
      kept.set(name, store)
      // Names are unique (Stores.open): one caller put the values there and reads them.
      // oxlint-disable-next-line typescript/consistent-type-assertions
      return store as Store<Value>
    },
    limit(name, options) {
      const buckets = counted.get(name) ?? new Map()
      counted.set(name, buckets)
      return memoryLimit(buckets, options, now)
    },
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

/** When a value was stored. */
interface Arrival {
  readonly key: string
  readonly createdAt: number
  /** Ascending. */
  readonly number: number
}

interface ValueOwner {
  readonly name: string
  readonly arrivals: Chain<Arrival>
}

interface StoredValue<Value> {
  readonly value: Value
  readonly arrival: Arrival
  readonly owner: ValueOwner
  readonly link: Link<Arrival>
  readonly ownerLink: Link<Arrival>
}

/** Order of eviction: the owner with the most values first, of equals the owner of the oldest value. */
function isEvictedBefore(one: ValueOwner, other: ValueOwner): boolean {
  if (one.arrivals.size !== other.arrivals.size) return one.arrivals.size > other.arrivals.size
  return (one.arrivals.oldest?.number ?? 0) < (other.arrivals.oldest?.number ?? 0)
}

class MemoryStore<Value> implements Store<Value> {
  readonly #options: StoreOptions<Value>
  readonly #now: () => number
  readonly #later: Later
  readonly #entries = new Map<string, StoredValue<Value>>()
  /** All values live equally long, so the order of arrival is the order of expiry. */
  readonly #arrivals = new Chain<Arrival>()
  readonly #owners = new Map<string, ValueOwner>()
  readonly #ranking = new Ranking(isEvictedBefore)
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
    if (owner.arrivals.size > this.#options.valuesPerOwnerMax) this.#forget(owner.arrivals.oldest?.key)
    if (this.size > this.#options.valuesMax) this.#forget(this.#ranking.first?.arrivals.oldest?.key)
    this.#wakeAtExpiry()
  }

  async take(key: string): Promise<Value | undefined> {
    const value = this.#find(key)
    this.#forget(key)
    return value
  }

  async takeAll(ownerName: string): Promise<readonly Value[]> {
    const values: Value[] = []
    const oldestKey = (): string | undefined => this.#owners.get(ownerName)?.arrivals.oldest?.key
    for (let key = oldestKey(); key !== undefined; key = oldestKey()) {
      const value = this.#find(key)
      this.#forget(key)
      if (value !== undefined) values.push(value)
    }
    return values
  }

  async delete(key: string): Promise<void> {
    this.#forget(key)
  }

  async list(most: number): Promise<readonly Listed<Value>[]> {
    this.#forgetExpired()
    const found: Listed<Value>[] = []
    for (const { key } of this.#arrivals.newestFirst()) {
      const value = this.#find(key)
      if (value !== undefined) found.push({ key, value })
      if (found.length >= most) break
    }
    return found
  }

  close(): void {
    this.#cancelTimer?.()
  }

  #find(key: string): Value | undefined {
    this.#forgetExpired()
    const entry = this.#entries.get(key)
    return entry === undefined || this.#isExpired(entry.arrival) ? undefined : entry.value
  }

  #isExpired({ createdAt }: Arrival): boolean {
    return isExpired(createdAt, this.#now(), this.#options.ttlMs)
  }

  #add(key: string, value: Value, ownerName: string): ValueOwner {
    const owner = this.#owners.get(ownerName) ?? { name: ownerName, arrivals: new Chain() }
    const arrival: Arrival = { key, createdAt: this.#now(), number: ++this.#lastNumber }
    this.#owners.set(ownerName, owner)
    this.#entries.set(key, {
      value,
      arrival,
      owner,
      link: this.#arrivals.append(arrival),
      ownerLink: owner.arrivals.append(arrival),
    })
    this.#ranking.update(owner)
    return owner
  }

  #forget(key: string | undefined): void {
    const entry = key === undefined ? undefined : this.#entries.get(key)
    if (entry === undefined) return
    const { owner, arrival } = entry
    this.#entries.delete(arrival.key)
    this.#arrivals.remove(entry.link)
    owner.arrivals.remove(entry.ownerLink)
    if (owner.arrivals.size > 0) return this.#ranking.update(owner)
    this.#ranking.remove(owner)
    this.#owners.delete(owner.name)
  }

  #forgetExpired(): void {
    for (let { oldest } = this.#arrivals; oldest !== undefined && this.#isExpired(oldest); { oldest } = this.#arrivals)
      this.#forget(oldest.key)
  }

  /**
   * Keeps one timer, for the oldest value. Whether the value has expired is decided by the clock: clocks jump, and
   * timers stop while the machine sleeps.
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
      Math.max(1, Math.min(ms, ttlMs + 1, timerMsMax)),
    )
  }
}

/** An item's position in a {@link Chain}. */
interface Link<Item> {
  readonly item: Item
  older: Link<Item> | undefined
  newer: Link<Item> | undefined
}

/**
 * A doubly linked list in order of arrival: every step takes constant time. A `Map` keeps an order too, but finding its
 * first key gets slower with each key deleted before it: 39 µs for each eviction at 50,000 keys (Bun 1.4.5).
 */
class Chain<Item> {
  #oldest: Link<Item> | undefined
  #newest: Link<Item> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get oldest(): Item | undefined {
    return this.#oldest?.item
  }

  *newestFirst(): Generator<Item> {
    for (let link = this.#newest; link !== undefined; link = link.older) yield link.item
  }

  append(item: Item): Link<Item> {
    const link: Link<Item> = { item, older: this.#newest, newer: undefined }
    if (this.#newest === undefined) this.#oldest = link
    else this.#newest.newer = link
    this.#newest = link
    this.#size++
    return link
  }

  /** @param link a link of this chain; it cannot be used again */
  remove(link: Link<Item>): void {
    if (link.older === undefined) this.#oldest = link.newer
    else link.older.newer = link.newer
    if (link.newer === undefined) this.#newest = link.older
    else link.newer.older = link.older
    this.#size--
  }
}

/** Each client's tokens at its last request, the most recent client last. */
export type Buckets = Map<string, { readonly credit: number; readonly at: number }>

/** Price of one token. A client is credited `perMinute` per millisecond, so that all sums are whole numbers. */
const cost = 60_000

/**
 * A limit in this process. Beyond {@link LimitOptions.clientsMax}, the client that was idle longest is forgotten.
 *
 * @param buckets the counts so far
 * @param now Unix milliseconds; may jump
 */
export function memoryLimit(
  buckets: Buckets,
  { perMinute, clientsMax = 20_000 }: LimitOptions,
  now: () => number,
): Limit {
  const full = perMinute * cost

  function creditOf(client: string, time: number): number {
    const bucket = buckets.get(client)
    return bucket === undefined ? full : Math.min(full, bucket.credit + Math.max(0, time - bucket.at) * perMinute)
  }

  return {
    async take(client) {
      if (perMinute === 0) return undefined
      const time = now()
      const credit = creditOf(client, time)
      const mayPass = credit >= cost
      buckets.delete(client)
      buckets.set(client, { credit: mayPass ? credit - cost : credit, at: time })
      if (buckets.size > clientsMax) buckets.delete(buckets.keys().next().value ?? client)
      return mayPass ? undefined : Math.ceil((cost - credit) / perMinute / 1000)
    },
  }
}
