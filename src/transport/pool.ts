/** Most idle connections kept for one origin. */
export const idleMax = 1_024

/** Milliseconds an idle connection is kept, unless the upstream announced less. */
export const idleMs = 60_000

/** Milliseconds between two sweeps. */
const sweepEveryMs = 5_000

/** The idle connections of one origin, the most recently used last. */
export interface IdleList<Item> {
  readonly items: IdleItem<Item>[]
}

interface IdleItem<Item> {
  readonly item: Item
  /** Expiry on the monotonic clock, in milliseconds. */
  readonly until: number
}

/** Keeps idle connections until they are reused or expire. */
export interface Pool<Item> {
  /** Makes a list for the connections of one origin. */
  idleList(): IdleList<Item>
  /** Takes out the most recently used connection, the likeliest to be open still. */
  take(idleList: IdleList<Item>): Item | undefined
  /**
   * Keeps an idle connection.
   *
   * @param keepMs milliseconds the upstream keeps idle connections, when it announced them
   * @returns false when it is not kept; the caller closes it
   */
  put(idleList: IdleList<Item>, item: Item, keepMs: number | undefined): boolean
  /** Removes a closed connection. @returns whether it was idle */
  remove(idleList: IdleList<Item>, item: Item): boolean
  /** Number of idle connections of all origins. */
  readonly idle: number
  /** Drops expired connections. The pool sweeps every five seconds by itself. */
  sweep(): void
  /** Drops all idle connections. */
  empty(): void
  /** Drops all idle connections; `put` keeps none from now on. */
  close(): void
}

/**
 * Makes a pool of idle connections. Its timer does not keep the process alive.
 *
 * @param drop closes a connection
 * @param now the monotonic clock, in milliseconds
 */
export function pool<Item>(drop: (item: Item) => void, now: () => number = () => performance.now()): Pool<Item> {
  return new IdlePool<Item>(drop, now)
}

class IdlePool<Item> implements Pool<Item> {
  readonly #now: () => number
  readonly #drop: (item: Item) => void
  readonly #lists: IdleList<Item>[] = []
  #idle = 0
  #isClosed = false
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(drop: (item: Item) => void, now: () => number = () => performance.now()) {
    this.#now = now
    this.#drop = drop
  }

  sweep(): void {
    const time = this.#now()
    for (const { items } of this.#lists) {
      // Not sorted by expiry: upstreams announce different keep-alive times.
      for (const expired of items.filter((idleItem) => idleItem.until <= time)) this.#discard(items, expired)
    }
    if (this.#idle > 0 || this.#timer === undefined) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  empty(): void {
    for (const { items } of this.#lists) {
      for (const idleItem of items.slice()) this.#discard(items, idleItem)
    }
  }

  idleList(): IdleList<Item> {
    const made: IdleList<Item> = { items: [] }
    this.#lists.push(made)
    return made
  }

  take({ items }: IdleList<Item>): Item | undefined {
    for (;;) {
      const last = items.pop()
      if (last === undefined) return undefined
      this.#idle--
      if (last.until > this.#now()) return last.item
      this.#drop(last.item)
    }
  }

  put({ items }: IdleList<Item>, item: Item, keepMs: number | undefined): boolean {
    // One second less, since the upstream's timer started before this one.
    const keptMs = keepMs === undefined ? idleMs : Math.min(idleMs, keepMs - 1_000)
    if (this.#isClosed || keptMs <= 0 || items.length >= idleMax) return false
    items.push({ item, until: this.#now() + keptMs })
    this.#idle++
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => this.sweep(), sweepEveryMs)
      this.#timer.unref()
    }
    return true
  }

  remove({ items }: IdleList<Item>, item: Item): boolean {
    const index = items.findLastIndex((idleItem) => idleItem.item === item)
    if (index === -1) return false
    items.splice(index, 1)
    this.#idle--
    return true
  }

  get idle() {
    return this.#idle
  }

  close(): void {
    this.#isClosed = true
    if (this.#timer !== undefined) clearInterval(this.#timer)
    this.#timer = undefined
    this.empty()
  }

  #discard(items: IdleItem<Item>[], idleItem: IdleItem<Item>): void {
    items.splice(items.indexOf(idleItem), 1)
    this.#idle--
    this.#drop(idleItem.item)
  }
}
