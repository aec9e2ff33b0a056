import { WireError } from '../wire/error.ts'

/** How many may be at it. */
export interface TurnsOptions {
  readonly atOnce: number
  /** Beyond them nobody else is let in. */
  readonly waitingMost: number
}

/** Does something when it is its turn. */
export type InTurn = <Value>(task: () => Promise<Value>) => Promise<Value>

/**
 * Lets so many do something at once; the others wait, first come first served. @throws {WireError} 503 when too many
 * wait
 */
export function turns({ atOnce, waitingMost }: TurnsOptions): InTurn {
  const waiting: (() => void)[] = []
  let busy = 0

  async function arrive(): Promise<void> {
    if (busy < atOnce) {
      busy += 1
      return
    }
    if (waiting.length >= waitingMost) {
      throw new WireError(
        503,
        'overloaded_error',
        'overloaded',
        'Too many wait for the same already; try again shortly',
        { headers: { 'retry-after': '1' } },
      )
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  /** Whoever waits takes over the place. */
  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) busy -= 1
    else next()
  }

  return async function inTurn(task) {
    await arrive()
    try {
      return await task()
    } finally {
      leave()
    }
  }
}
