import type { Ground } from './ground.ts'

/** Where a fault lies. */
export const areas = ['network', 'link', 'protocol', 'client', 'process', 'configuration', 'store', 'workers'] as const

export type Area = (typeof areas)[number]

/** One thing that goes wrong, brought about on purpose. */
export interface FaultCase {
  /** Unique: `[a-z0-9-]+`, in lower case. */
  readonly id: string
  readonly area: Area
  /** What is tried, as a row of docs/reliability.md begins. */
  readonly what: string
  /** Why it cannot be made on this machine; `undefined`: it can. */
  readonly needs?: () => string | undefined
  /** It is part of the short run of `npm test`. */
  readonly isShort?: boolean
  /** It wants a ground of its own. Absent: the one that all faults share. */
  readonly own?: () => Promise<Ground>
  /**
   * Brings the fault about, looks at what clients got and what providers saw meanwhile, and ends the fault. What is
   * left behind, and that a good request works, is looked at afterwards (aftermath.ts).
   *
   * @returns what happened, in a sentence
   * @throws when it was not what is promised
   */
  run(ground: Ground): Promise<string>
}

/** @throws when something that is promised does not hold */
export function demand(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new Error(promise)
}

/** @throws when `found` is not `expected`, member by member */
export function demandEqual(found: unknown, expected: unknown, what: string): void {
  if (!Bun.deepEquals(found, expected)) throw new Error(`${what}: ${brief(found)} instead of ${brief(expected)}`)
}

function brief(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 300)
}
