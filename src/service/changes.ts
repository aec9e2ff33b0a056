import type { Attempt } from './trail.ts'

const none: readonly string[] = []
const asAsked = {}
/** Most names of a kind, and most characters of a name: callers may send any members. */
const namesMax = 32,
  nameMax = 64,
  servedMax = 128

/**
 * Changes that a request needed for the upstream that was asked last, by the names of its members: at most 32 of a
 * kind, then `more`; and the model that answered, if it is not the one that was asked for. Characters of a name that a
 * header could not hold become `?`.
 */
export class Changes {
  #dropped = none
  #adjusted = none
  #adapted = none
  #served: Pick<Attempt, 'served' | 'isOtherModel'> = asAsked

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

  /** The model that the answer names, if it is not the one that was asked for: at most 128 characters. */
  get served(): string | undefined {
    return this.#served.served
  }

  /** The changes as a trail has them; `undefined`: none. */
  get inTrail(): Pick<Attempt, 'adapted' | 'dropped' | 'adjusted' | 'served' | 'isOtherModel'> | undefined {
    const [dropped, adjusted, adapted] = [this.#dropped, this.#adjusted, this.#adapted]
    if (dropped.length + adjusted.length + adapted.length === 0 && this.#served === asAsked) return undefined
    return {
      ...this.#served,
      ...(adapted.length === 0 ? {} : { adapted }),
      ...(dropped.length === 0 ? {} : { dropped }),
      ...(adjusted.length === 0 ? {} : { adjusted }),
    }
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

  /** @param isOther it is no form of the model that was asked for */
  serve(model: string, isOther: boolean): void {
    const served = model.slice(0, servedMax).replace(/[^\w.:/@+-]/g, '?')
    this.#served = isOther ? { served, isOtherModel: true } : { served }
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
    this.#served = asAsked
  }
}

function including(names: readonly string[], name: string): readonly string[] {
  const shown = name.slice(0, nameMax).replace(/[^\w.[\]-]/g, '?')
  if (names.length > namesMax || names.includes(shown)) return names
  return [...names, names.length === namesMax ? 'more' : shown]
}
