/** The processes that hold leases, by the things that are leased. */
export interface LeaseHolders<Item extends object, Holder> {
  add(item: Item, holder: Holder): void
  delete(item: Item, holder: Holder): void
  /** Whether a process may return something. */
  has(item: Item): boolean
  /** None are given for a second from now on: the authority decides alone. @param now of a monotonic clock */
  noteShort(items: readonly Item[], now: number): void
  /** Whether none are given, also because they are being called back. @param now of a monotonic clock */
  isShort(item: Item, now: number): boolean
  /** Calls back the leases of these, once for all that need it at the same time. */
  callBack(items: readonly Item[]): Promise<void>
}

/** Leases are not given for this long after they were called back. */
const shortMs = 1_000

/** @param ask asks a process for its leases, and takes what it returns. Must not reject */
export function leaseHolders<Item extends object, Holder>(
  ask: (holder: Holder, items: readonly Item[]) => Promise<void>,
): LeaseHolders<Item, Holder> {
  const holders = new WeakMap<Item, Set<Holder>>()
  const callingBack = new Map<Item, Promise<unknown>>()
  /** The times until which no leases are given. */
  const shortUntil = new WeakMap<Item, number>()

  /** Asks all processes that may return something of these items for it. */
  function askHolders(items: readonly Item[]): Promise<unknown> {
    const itemsOf = new Map<Holder, Item[]>()
    for (const item of items)
      for (const holder of holders.get(item) ?? []) itemsOf.set(holder, [...(itemsOf.get(holder) ?? []), item])
    return Promise.all(Array.from(itemsOf, ([holder, own]) => ask(holder, own)))
  }

  return {
    add(item, holder) {
      const known = holders.get(item)
      if (known === undefined) holders.set(item, new Set([holder]))
      else known.add(holder)
    },
    delete(item, holder) {
      const known = holders.get(item)
      if (known?.delete(holder) === true && known.size === 0) holders.delete(item)
    },
    has: (item) => holders.has(item),
    noteShort(items, now) {
      for (const item of items) shortUntil.set(item, now + shortMs)
    },
    isShort: (item, now) => callingBack.has(item) || now < (shortUntil.get(item) ?? now),
    async callBack(items) {
      const fresh = items.filter((item) => !callingBack.has(item))
      const called = askHolders(fresh).finally(() => {
        for (const item of fresh) callingBack.delete(item)
      })
      for (const item of fresh) callingBack.set(item, called)
      await Promise.all(items.flatMap((item) => callingBack.get(item) ?? []))
    },
  }
}
