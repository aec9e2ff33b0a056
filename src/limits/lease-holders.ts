/** Leases are not given for this long after they were called back. */
const shortMs = 1_000

/** The processes that hold leases, by the things that are leased. Times are of a monotonic clock. */
export class LeaseHolders<Item extends object, Holder> {
  readonly #ask: (holder: Holder, items: readonly Item[]) => Promise<void>
  readonly #holders = new WeakMap<Item, Set<Holder>>()
  readonly #callingBack = new Map<Item, Promise<unknown>>()
  /** The times until which no leases are given. */
  readonly #shortUntil = new WeakMap<Item, number>()

  /** @param ask asks a process for its leases, and takes what it returns. Must not reject */
  constructor(ask: (holder: Holder, items: readonly Item[]) => Promise<void>) {
    this.#ask = ask
  }

  add(item: Item, holder: Holder): void {
    const known = this.#holders.get(item)
    if (known === undefined) this.#holders.set(item, new Set([holder]))
    else known.add(holder)
  }

  delete(item: Item, holder: Holder): void {
    const known = this.#holders.get(item)
    if (known?.delete(holder) === true && known.size === 0) this.#holders.delete(item)
  }

  /** Whether a process may return something. */
  has(item: Item): boolean {
    return this.#holders.has(item)
  }

  /** None are given for a second from now on: the authority decides alone. */
  noteShort(items: readonly Item[], now: number): void {
    for (const item of items) this.#shortUntil.set(item, now + shortMs)
  }

  /** Whether none are given, also because they are being called back. */
  isShort(item: Item, now: number): boolean {
    return this.#callingBack.has(item) || now < (this.#shortUntil.get(item) ?? now)
  }

  /** Calls back the leases of these, once for all that need it at the same time. */
  async callBack(items: readonly Item[]): Promise<void> {
    const fresh = items.filter((item) => !this.#callingBack.has(item))
    const called = this.#askHolders(fresh).finally(() => {
      for (const item of fresh) this.#callingBack.delete(item)
    })
    for (const item of fresh) this.#callingBack.set(item, called)
    await Promise.all(items.flatMap((item) => this.#callingBack.get(item) ?? []))
  }

  /** Asks all processes that may return something of these items for it. */
  #askHolders(items: readonly Item[]): Promise<unknown> {
    const itemsOf = new Map<Holder, Item[]>()
    for (const item of items)
      for (const holder of this.#holders.get(item) ?? []) itemsOf.set(holder, [...(itemsOf.get(holder) ?? []), item])
    return Promise.all(Array.from(itemsOf, ([holder, own]) => this.#ask(holder, own)))
  }
}
