import { WireError } from '../../formats/error.ts'

export interface ConcurrencyOptions {
  /** Tasks that run at the same time. */
  readonly concurrentMax: number
  /** Tasks that wait; further ones are rejected. */
  readonly waitingMax: number
}

/** Runs a task as soon as the limit allows. */
export type RunLimited = <Value>(task: () => Promise<Value>) => Promise<Value>

/**
 * Limits concurrent tasks; the others wait in order of arrival.
 *
 * @throws {WireError} 503 when too many tasks wait
 */
export function concurrencyLimit({ concurrentMax, waitingMax }: ConcurrencyOptions): RunLimited {
  const waiting: (() => void)[] = []
  let running = 0

  async function acquire(): Promise<void> {
    if (running < concurrentMax) {
      running += 1
      return
    }
    if (waiting.length >= waitingMax) {
      throw new WireError(503, 'overloaded_error', 'overloaded', 'Too many requests are waiting; try again shortly', {
        headers: { 'retry-after': '1' },
      })
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  function release(): void {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }

  return async function runLimited(task) {
    await acquire()
    try {
      return await task()
    } finally {
      release()
    }
  }
}
