/** An item's place in a {@link Chain}. */
export interface Link<Item> {
  readonly item: Item
  older: Link<Item> | undefined
  newer: Link<Item> | undefined
}

/**
 * Items in the order they came, of which any can be let go at once. A `Map` keeps an order too, but its first key costs
 * more the more keys were deleted before it: measured in Bun 1.4.5, with 50,000 keys, 39 µs for each value that
 * replaces the oldest.
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

  /** @param link one of this chain, which it leaves for good */
  remove(link: Link<Item>): void {
    if (link.older === undefined) this.#oldest = link.newer
    else link.older.newer = link.newer
    if (link.newer === undefined) this.#newest = link.older
    else link.newer.older = link.older
    this.#size--
  }
}
