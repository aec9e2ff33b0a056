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
  const lists: IdleList<Item>[] = []
  let idle = 0
  let isClosed = false
  let timer: ReturnType<typeof setInterval> | undefined

  function sweep(): void {
    const time = now()
    for (const { items } of lists) {
      // Not sorted by expiry: upstreams announce different keep-alive times.
      for (const expired of items.filter((idleItem) => idleItem.until <= time)) discard(items, expired)
    }
    if (idle > 0 || timer === undefined) return
    clearInterval(timer)
    timer = undefined
  }

  function discard(items: IdleItem<Item>[], idleItem: IdleItem<Item>): void {
    items.splice(items.indexOf(idleItem), 1)
    idle--
    drop(idleItem.item)
  }

  function empty(): void {
    for (const { items } of lists) {
      for (const idleItem of items.slice()) discard(items, idleItem)
    }
  }

  return {
    idleList() {
      const made: IdleList<Item> = { items: [] }
      lists.push(made)
      return made
    },
    take({ items }) {
      for (;;) {
        const last = items.pop()
        if (last === undefined) return undefined
        idle--
        if (last.until > now()) return last.item
        drop(last.item)
      }
    },
    put({ items }, item, keepMs) {
      // One second less, since the upstream's timer started before this one.
      const keptMs = keepMs === undefined ? idleMs : Math.min(idleMs, keepMs - 1_000)
      if (isClosed || keptMs <= 0 || items.length >= idleMax) return false
      items.push({ item, until: now() + keptMs })
      idle++
      if (timer === undefined) {
        timer = setInterval(sweep, sweepEveryMs)
        timer.unref()
      }
      return true
    },
    remove({ items }, item) {
      const index = items.findLastIndex((idleItem) => idleItem.item === item)
      if (index === -1) return false
      items.splice(index, 1)
      idle--
      return true
    },
    get idle() {
      return idle
    },
    sweep,
    empty,
    close() {
      isClosed = true
      if (timer !== undefined) clearInterval(timer)
      timer = undefined
      empty()
    },
  }
}
