/** A binary heap that also knows the position of each item, so that items can change. Every step takes O(log n). */
export class Ranking<Item> {
  readonly #items: Item[] = []
  readonly #positions = new Map<Item, number>()
  readonly #isBefore: (one: Item, other: Item) => boolean

  /** @param isBefore a strict order of all items */
  constructor(isBefore: (one: Item, other: Item) => boolean) {
    this.#isBefore = isBefore
  }

  get first(): Item | undefined {
    return this.#items[0]
  }

  /** Inserts an item, or moves one that has changed. No other item may have changed since the last call. */
  update(item: Item): void {
    const at = this.#positions.get(item) ?? this.#items.length
    this.#put(item, at)
    this.#rise(item)
    this.#sink(item)
  }

  remove(item: Item): void {
    const at = this.#positions.get(item)
    const last = this.#items.at(-1)
    if (at === undefined || last === undefined) return
    this.#items.length--
    this.#positions.delete(item)
    if (last === item) return
    this.#put(last, at)
    this.#rise(last)
    this.#sink(last)
  }

  #put(item: Item, at: number): void {
    this.#items[at] = item
    this.#positions.set(item, at)
  }

  #rise(item: Item): void {
    for (let at = this.#positions.get(item) ?? 0; at > 0;) {
      const above = (at - 1) >> 1,
        other = this.#items[above]
      if (other === undefined || !this.#isBefore(item, other)) return
      this.#put(other, at)
      this.#put(item, (at = above))
    }
  }

  #sink(item: Item): void {
    for (let at = this.#positions.get(item) ?? 0; ;) {
      const below = this.#earlierOf(2 * at + 1, 2 * at + 2)
      const other = this.#items[below]
      if (other === undefined || !this.#isBefore(other, item)) return
      this.#put(other, at)
      this.#put(item, (at = below))
    }
  }

  #earlierOf(left: number, right: number): number {
    const one = this.#items[left],
      other = this.#items[right]
    return one !== undefined && other !== undefined && this.#isBefore(other, one) ? right : left
  }
}
