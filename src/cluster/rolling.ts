import type { Crew, CrewOptions, Place } from './crew.ts'
import { restartReason } from './worker-life.ts'
import type { Worker } from './worker.ts'

/** What {@link rolling} needs. */
export interface RollingOptions extends Pick<CrewOptions, 'log' | 'sleep'> {
  /** Settles when there is a crew to be replaced. */
  readonly begun: Promise<void>
  /** Who was told to leave and has not ended after so many milliseconds is ended. */
  readonly leaveMs: number
}

/**
 * Rolling restarts: a new worker in the place of each, one after the other, none before the new one listens.
 *
 * @returns begins one, or has another follow the one under way; resolves when all have started. Never rejects
 */
export function rolling(crew: Crew, { log, sleep, begun, leaveMs }: RollingOptions): () => Promise<void> {
  const { places, living, listening } = crew
  let underWay: Promise<void> | undefined
  let isAgain = false

  async function rollWhileAsked(): Promise<void> {
    await begun
    do {
      isAgain = false
      await rollAll()
    } while (isAgain && !crew.isDismissed)
    underWay = undefined
  }

  async function rollAll(): Promise<void> {
    log.info('rolling restart', { workers: places.length })
    for (const place of places) if (crew.isDismissed || !(await rollPlace(place))) return
    log.info('rolling restart done', { workers: places.length })
  }

  async function rollPlace(place: Place): Promise<boolean> {
    place.isRolling = true
    const fresh = crew.hire(place)
    await fresh.listening.catch(() => undefined)
    place.isRolling = false
    if (!listening.has(fresh)) {
      if (place.worker === undefined) void crew.refill(place)
      log.error('the new worker did not start; the rolling restart ends here, and those at work stay', {
        worker: place.number,
      })
      return false
    }
    const before = place.worker
    place.worker = fresh
    if (before !== undefined) {
      void endLate(before)
      await before.leave(restartReason)
    }
    return true
  }

  async function endLate(worker: Worker): Promise<void> {
    await Promise.race([worker.exited, sleep(leaveMs)])
    if (living.has(worker)) worker.kill()
  }

  return function roll() {
    isAgain = underWay !== undefined
    underWay ??= rollWhileAsked()
    return underWay
  }
}
