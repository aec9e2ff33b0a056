/** Most idle connections kept for one origin. */
export const idleMax = 1_024

/** Milliseconds an idle connection is kept, unless its upstream asked for less. */
export const idleMs = 60_000

/** Milliseconds between two looks at what has been idle for too long. */
const sweepEveryMs = 5_000

/** Idle things of one origin, the youngest last. */
export interface Shelf<Item> {
  readonly items: IdleItem<Item>[]
}

interface IdleItem<Item> {
  readonly item: Item
  /** On the monotonic clock, in milliseconds. */
  readonly until: number
}

/** Keeps idle connections until somebody needs them or they have been idle for too long. */
export interface Pool<Item> {
  /** A place for the connections of one origin. */
  shelf(): Shelf<Item>
  /** The connection that was put last, as the likeliest to be alive. */
  take(shelf: Shelf<Item>): Item | undefined
  /**
   * @param keepMs how long it may be idle, when its upstream said so @returns false when it is not kept; the caller
   *   drops it
   */
  put(shelf: Shelf<Item>, item: Item, keepMs: number | undefined): boolean
  /** Forgets a connection that died. @returns whether it was here */
  remove(shelf: Shelf<Item>, item: Item): boolean
  /** How many are idle, over all origins. */
  readonly idle: number
  /** Drops what has been idle for too long. The pool does so itself every five seconds. */
  sweep(): void
  /** Drops everything that is idle now. */
  empty(): void
  /** Drops everything and keeps nothing from now on. */
  close(): void
}

/**
 * A pool of idle things, dropped with `drop`. It has one timer, which does not keep the process alive.
 *
 * @param now the monotonic clock, in milliseconds
 */
export function pool<Item>(drop: (item: Item) => void, now: () => number = () => performance.now()): Pool<Item> {
  const shelves: Shelf<Item>[] = []
  let idle = 0
  let isClosed = false
  let timer: ReturnType<typeof setInterval> | undefined

  function sweep(): void {
    const time = now()
    for (const { items } of shelves) {
      // Not in order of expiry: upstreams may ask for less than the others.
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
    for (const { items } of shelves) {
      for (const idleItem of items.slice()) discard(items, idleItem)
    }
  }

  return {
    shelf() {
      const made: Shelf<Item> = { items: [] }
      shelves.push(made)
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
      // A second early: the upstream's clock began before ours.
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
