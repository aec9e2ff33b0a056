import type { Person } from '../../people/person.ts'

/** The caller, model and provider that a hold is stored by. */
export interface HeldPlace {
  /** Id of the first key of the line; 0: no key. */
  readonly line: number
  readonly person: Person | undefined
  readonly team?: string | undefined
  readonly model: string
  readonly provider: string
}

/** The holds of one place. */
export interface HeldMoney extends HeldPlace {
  readonly attempts: number
  readonly nanoUsd: number
}

/** A hold of this process. */
export interface OpenHold {
  readonly place: HeldPlace
  /** The estimate. */
  readonly nanoUsd: number
}

/** Holds are stated again this often, so that other machines see that this process lives. Milliseconds. */
const statedEveryMs = 5_000

/** The holds of this process whose costs are in no record yet. */
export class OpenHolds {
  readonly #holds = new Set<OpenHold>()
  #hasBegun = false
  #changed = (): void => undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  get count(): number {
    return this.#holds.size
  }

  add(hold: OpenHold): void {
    this.#hasBegun = true
    this.#holds.add(hold)
    this.#stateLater()
    this.#changed()
  }

  /** The cost is in a record that has been handed over, or the attempt cost nothing. */
  delete(hold: OpenHold): void {
    if (this.#holds.delete(hold)) this.#changed()
  }

  /** The estimate of a hold has grown. */
  raised(): void {
    this.#changed()
  }

  /** The sums of holds; `undefined`: there was never one. */
  sums(): readonly HeldMoney[] | undefined {
    return this.#hasBegun ? summed(this.#holds) : undefined
  }

  /** Sets what is called with each change, and every 5 s while there are holds. */
  onChange(listener: () => void): void {
    this.#changed = listener
  }

  #state(): void {
    this.#timer = undefined
    if (this.#holds.size === 0) return
    this.#changed()
    this.#stateLater()
  }

  #stateLater(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.#state(), statedEveryMs)
    this.#timer.unref()
  }
}

function summed(holds: Iterable<OpenHold>): readonly HeldMoney[] {
  const sums = new Map<string, { attempts: number; nanoUsd: number } & HeldPlace>()
  for (const { place, nanoUsd } of holds) {
    const { line, person, team, model, provider } = place
    const key = JSON.stringify([line, person, team, model, provider])
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, { ...place, attempts: 1, nanoUsd })
    else {
      sum.attempts += 1
      sum.nanoUsd = Math.min(Number.MAX_SAFE_INTEGER, sum.nanoUsd + nanoUsd)
    }
  }
  return [...sums.values()]
}
