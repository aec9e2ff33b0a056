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

/** The holds of this process whose costs are in no record yet. */
export interface OpenHolds {
  add(hold: OpenHold): void
  /** The cost is in a record that has been handed over, or the attempt cost nothing. */
  delete(hold: OpenHold): void
  /** The estimate of a hold has grown. */
  raised(): void
  /** The sums of holds; `undefined`: there was never one. */
  sums(): readonly HeldMoney[] | undefined
  readonly count: number
  /** Sets what is called with each change, and every 5 s while there are holds. */
  onChange(listener: () => void): void
}

/** Holds are stated again this often, so that other machines see that this process lives. Milliseconds. */
const statedEveryMs = 5_000

/** A process without holds. */
export function openHolds(): OpenHolds {
  const holds = new Set<OpenHold>()
  let hasBegun = false
  let changed = (): void => undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  function state(): void {
    timer = undefined
    if (holds.size === 0) return
    changed()
    stateLater()
  }

  function stateLater(): void {
    if (timer !== undefined) return
    timer = setTimeout(state, statedEveryMs)
    timer.unref()
  }

  return {
    add(hold) {
      hasBegun = true
      holds.add(hold)
      stateLater()
      changed()
    },
    delete(hold) {
      if (holds.delete(hold)) changed()
    },
    raised: () => changed(),
    sums: () => (hasBegun ? summed(holds) : undefined),
    get count() {
      return holds.size
    },
    onChange(listener) {
      changed = listener
    },
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
