import type { Testbed } from './testbed.ts'

/** Where a fault lies. */
export const areas = ['network', 'link', 'protocol', 'client', 'process', 'configuration', 'store', 'workers'] as const

export type Area = (typeof areas)[number]

/** One injected fault. */
export interface FaultCase {
  /** Unique, `[a-z0-9-]+`. */
  readonly id: string
  readonly area: Area
  /** The fault in words: the first cell of its row in lab/faults/outcomes.md. */
  readonly what: string
  /** Reason why this machine cannot run the case; `undefined`: it can. */
  readonly needs?: () => string | undefined
  /** Part of the short run of `npm test`. */
  readonly isShort?: boolean
  /** Opens a testbed for this case alone. Absent: the shared testbed. */
  readonly own?: () => Promise<Testbed>
  /**
   * Injects the fault, checks the answers of clients and the requests at providers, and ends the fault. Afterwards
   * aftermath.ts checks that a good request works and that nothing is left behind.
   *
   * @returns the outcome, in one sentence
   * @throws when a promise does not hold
   */
  run(testbed: Testbed): Promise<string>
}

/** @throws when a promise does not hold */
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
