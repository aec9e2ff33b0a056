const none: readonly string[] = []

/** Changes that a request needed for the upstream that was asked last, by the names of its members. */
export class Changes {
  #dropped = none
  #adjusted = none
  #adapted = none

  /** Content and fields that were left out. */
  get dropped(): readonly string[] {
    return this.#dropped
  }

  /** Content and fields that were sent in another form. */
  get adjusted(): readonly string[] {
    return this.#adjusted
  }

  /** Traits of the upstream that a refusal of this request has taught. */
  get adapted(): readonly string[] {
    return this.#adapted
  }

  drop(name: string): void {
    this.#dropped = including(this.#dropped, name)
  }

  adjust(name: string): void {
    this.#adjusted = including(this.#adjusted, name)
  }

  adapt(name: string): void {
    this.#adapted = including(this.#adapted, name)
  }

  /** Forgets all: the next upstream is asked. */
  clear(): void {
    this.restart()
    this.#adapted = none
  }

  /** Forgets the changes: the same upstream is asked again, with the lessons of its refusals. */
  restart(): void {
    this.#dropped = none
    this.#adjusted = none
  }
}

function including(names: readonly string[], name: string): readonly string[] {
  return names.includes(name) ? names : [...names, name]
}
