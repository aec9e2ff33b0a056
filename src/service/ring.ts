/** A place in a ring: a list whose members leave and join at no cost. A new place is alone in its ring. */
export class RingPlace {
  #previous: RingPlace = this
  #next: RingPlace = this

  get next(): RingPlace {
    return this.#next
  }

  /** Leaves its ring, and is alone in its own. */
  leave(): void {
    this.#previous.#next = this.#next
    this.#next.#previous = this.#previous
    this.#previous = this.#next = this
  }

  /** Joins the ring of `place`, before it. To be called on a place that is alone. */
  joinBefore(place: RingPlace): void {
    this.#previous = place.#previous
    this.#next = place
    place.#previous.#next = this
    place.#previous = this
  }
}
