import { failedWorker, type Worker } from './worker.ts'

export interface WorkerSlotsOptions {
  readonly count: number
  /**
   * Starts a process.
   *
   * @param slot number of its slot, from 0
   * @throws when the system cannot start one; counts as an exit at once
   */
  readonly start: (slot: number) => Worker
  readonly log: {
    info(message: string, fields?: Fields): void
    warn(message: string, fields?: Fields): void
    error(message: string, fields?: Fields): void
  }
  /** Called when the number of listening workers has changed. */
  readonly onCount: (listening: number) => void
  /** Called when a worker has ended unexpectedly. */
  readonly onCrash: () => void
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
}

type Fields = Readonly<Record<string, string | number>>

/** A slot, and the worker in it. */
export interface Slot {
  readonly number: number
  worker: Worker | undefined
  /** Consecutive workers that died young. */
  youngDeaths: number
  /** A rolling restart is replacing its worker: the slot is not filled otherwise. */
  isRolling: boolean
}

/**
 * A fixed number of worker slots. A worker that exits is replaced at once, or with back-off (1 s, 2 s, 4 s … 30 s) if
 * it died young.
 */
export interface WorkerSlots {
  readonly slots: readonly Slot[]
  /** All processes that have not ended, including those that drain. */
  readonly running: ReadonlySet<Worker>
  readonly listening: ReadonlySet<Worker>
  readonly isStopped: boolean
  /** Starts a worker for a slot without putting it there. */
  start(slot: Slot): Worker
  /** Starts a worker in an empty slot, after the back-off. */
  fill(slot: Slot): Promise<void>
  /** Ends all back-offs. */
  retryNow(): void
  /** Fills no slot any more. */
  stop(): void
}

/** A worker that ends earlier died young. */
const youngMs = 10_000
const backOffMsFirst = 1_000
const backOffMsMax = 30_000

/** Empty slots. */
export function workerSlots({
  count,
  start: startProcess,
  log,
  onCount,
  onCrash,
  now,
  sleep,
}: WorkerSlotsOptions): WorkerSlots {
  const slots: readonly Slot[] = Array.from({ length: count }, (_, number) => ({
    number,
    worker: undefined,
    youngDeaths: 0,
    isRolling: false,
  }))
  const running = new Set<Worker>()
  const listening = new Set<Worker>()
  const listenedOnce = new WeakSet<Worker>()
  let isStopped = false
  let retry = Promise.withResolvers<void>()

  function start(slot: Slot): Worker {
    const worker = startOrFail(slot)
    const since = now()
    running.add(worker)
    worker.listening.then(
      () => {
        listenedOnce.add(worker)
        changeListening(() => listening.add(worker))
      },
      () => undefined,
    )
    void worker.exited.then((code) => {
      running.delete(worker)
      changeListening(() => listening.delete(worker))
      if (slot.worker === worker) void onExit(slot, worker, code, now() - since)
    })
    return worker
  }

  function startOrFail(slot: Slot): Worker {
    try {
      return startProcess(slot.number)
    } catch (error) {
      log.error('a worker cannot be started', {
        worker: slot.number,
        reason: error instanceof Error ? error.message : String(error),
      })
      return failedWorker()
    }
  }

  function changeListening(change: () => unknown): void {
    const before = listening.size
    change()
    if (listening.size !== before) onCount(listening.size)
  }

  async function onExit(slot: Slot, worker: Worker, code: number, livedMs: number): Promise<void> {
    slot.worker = undefined
    if (isStopped) return
    logExit(slot, listenedOnce.has(worker), code)
    slot.youngDeaths = livedMs >= youngMs ? 0 : slot.youngDeaths + 1
    if (!slot.isRolling) await fill(slot)
  }

  function logExit({ number }: Slot, hasListened: boolean, code: number): void {
    if (!hasListened) return log.error('a worker did not start; trying again', { worker: number, exit_code: code })
    if (code === 0) return log.info('a worker ended as requested; another replaces it', { worker: number })
    onCrash()
    log.error('a worker crashed; another replaces it', { worker: number, exit_code: code })
  }

  async function fill(slot: Slot): Promise<void> {
    if (slot.youngDeaths > 0)
      await Promise.race([sleep(Math.min(backOffMsMax, backOffMsFirst * 2 ** (slot.youngDeaths - 1))), retry.promise])
    if (!isStopped && slot.worker === undefined && !slot.isRolling) slot.worker = start(slot)
  }

  return {
    slots,
    running,
    listening,
    get isStopped() {
      return isStopped
    },
    start,
    fill,
    retryNow() {
      retry.resolve()
      retry = Promise.withResolvers()
    },
    stop() {
      isStopped = true
    },
  }
}
