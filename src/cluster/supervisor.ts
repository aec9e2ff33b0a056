import { rollingRestart } from './rolling-restart.ts'
import type { Listening } from './worker-lifecycle.ts'
import { WorkerSlots, type WorkerSlotsOptions } from './worker-slots.ts'
import type { Worker } from './worker.ts'

/*
 * Several processes as one service. The primary serves no request: it keeps slots of workers filled (`worker-slots.ts`,
 * `spawn-worker.ts`), restarts them one after the other (`rolling-restart.ts`) and reads files once for all (`shared-
 * files.ts`). `channel.ts` is the one channel to a worker: calls with answers in both directions, in order, which carry
 * limits, stores, records and health. A worker that hangs is ended and replaced.
 */

export interface SupervisorOptions extends WorkerSlotsOptions {
  /** A worker that still runs this long after it was asked to drain is killed, in milliseconds. */
  readonly drainMsMax: number
}

/** Keeps a number of workers running. */
export interface Supervisor {
  /**
   * Starts the workers one after the other.
   *
   * @returns the message of the first worker
   * @throws {StartFailed} when one ends before it listens; then all are killed
   */
  start(): Promise<Listening>
  /**
   * Restarts the workers one after the other, without a gap. Waits until all have started. Stops at a worker that does
   * not start. Never rejects.
   */
  roll(): Promise<void>
  /** Starts the workers that wait for their back-off: the cause of their failures may be over. */
  retryNow(): void
  /** Drains all workers. Resolves when all have ended. */
  stop(reason: string): Promise<void>
  /** Kills all workers. */
  kill(): void
}

/** A worker ended before it listened. It has written the reason to standard error. */
export class StartFailed extends Error {
  override readonly name = 'StartFailed'
  readonly exitCode: number
  constructor(exitCode: number) {
    super(`a worker did not start (exit code ${exitCode})`)
    this.exitCode = exitCode
  }
}

/** A supervisor of workers that have not started yet. */
export function supervisor({ drainMsMax, ...options }: SupervisorOptions): Supervisor {
  const workers = new WorkerSlots(options)
  const started = Promise.withResolvers<void>()

  function kill(): void {
    for (const worker of workers.running) worker.kill()
  }

  async function listeningOf(worker: Worker): Promise<Listening> {
    try {
      return await worker.listening
    } catch {
      if (!workers.isStopped) kill()
      workers.stop()
      throw new StartFailed(await worker.exited)
    }
  }

  return {
    async start() {
      const messages: Listening[] = []
      for (const slot of workers.slots) {
        if (workers.isStopped) break
        const worker = workers.start(slot)
        messages.push(await listeningOf(worker))
        slot.worker = worker
      }
      const [first] = messages
      if (first === undefined) throw new Error('there are no worker slots')
      started.resolve()
      return first
    },
    roll: rollingRestart(workers, { ...options, drainMsMax, started: started.promise }),
    retryNow: () => workers.retryNow(),
    async stop(reason) {
      workers.stop()
      const all = [...workers.running]
      for (const worker of all) void worker.drain(reason)
      const ended = Promise.all(all.map((worker) => worker.exited))
      await Promise.race([ended, options.sleep(drainMsMax)])
      kill()
      await ended
    },
    kill,
  }
}
