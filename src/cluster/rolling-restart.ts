import { restartReason } from './worker-lifecycle.ts'
import type { Slot, WorkerSlots, WorkerSlotsOptions } from './worker-slots.ts'
import type { Worker } from './worker.ts'

export interface RollingRestartOptions extends Pick<WorkerSlotsOptions, 'log' | 'sleep'> {
  /** Resolves when all workers have started for the first time. */
  readonly started: Promise<void>
  /** A worker that still runs this long after it was asked to drain is killed, in milliseconds. */
  readonly drainMsMax: number
}

/**
 * Restarts workers slot by slot: the old worker drains once the new one listens.
 *
 * @returns starts a restart, or queues one more after the current one. Resolves when all have started. Never rejects
 */
export function rollingRestart(
  workers: WorkerSlots,
  { log, sleep, started, drainMsMax }: RollingRestartOptions,
): () => Promise<void> {
  const { slots, running, listening } = workers
  let current: Promise<void> | undefined
  let isQueued = false

  async function rollWhileQueued(): Promise<void> {
    await started
    do {
      isQueued = false
      await rollAll()
    } while (isQueued && !workers.isStopped)
    current = undefined
  }

  async function rollAll(): Promise<void> {
    log.info('rolling restart', { workers: slots.length })
    for (const slot of slots) if (workers.isStopped || !(await rollSlot(slot))) return
    log.info('rolling restart done', { workers: slots.length })
  }

  async function rollSlot(slot: Slot): Promise<boolean> {
    slot.isRolling = true
    const fresh = workers.start(slot)
    await fresh.listening.catch(() => undefined)
    slot.isRolling = false
    if (!listening.has(fresh)) {
      if (slot.worker === undefined) void workers.fill(slot)
      log.error('the new worker did not start; the rolling restart stops here, and the running workers stay', {
        worker: slot.number,
      })
      return false
    }
    const before = slot.worker
    slot.worker = fresh
    if (before !== undefined) {
      void killLate(before)
      await before.drain(restartReason)
    }
    return true
  }

  async function killLate(worker: Worker): Promise<void> {
    await Promise.race([worker.exited, sleep(drainMsMax)])
    if (running.has(worker)) worker.kill()
  }

  return function roll() {
    isQueued = current !== undefined
    current ??= rollWhileQueued()
    return current
  }
}
