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

/** A worker that ends earlier died young. */
const youngMs = 10_000
const backOffMsFirst = 1_000
const backOffMsMax = 30_000

/**
 * A fixed number of worker slots. A worker that exits is replaced at once, or with back-off (1 s, 2 s, 4 s … 30 s) if
 * it died young.
 */
export class WorkerSlots {
  readonly slots: readonly Slot[]
  readonly #options: WorkerSlotsOptions
  readonly #running = new Set<Worker>()
  readonly #listening = new Set<Worker>()
  readonly #listenedOnce = new WeakSet<Worker>()
  #isStopped = false
  #retry = Promise.withResolvers<void>()

  constructor(options: WorkerSlotsOptions) {
    this.#options = options
    this.slots = Array.from({ length: options.count }, (_, number) => ({
      number,
      worker: undefined,
      youngDeaths: 0,
      isRolling: false,
    }))
  }

  /** All processes that have not ended, including those that drain. */
  get running(): ReadonlySet<Worker> {
    return this.#running
  }

  get listening(): ReadonlySet<Worker> {
    return this.#listening
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Starts a worker for a slot without putting it there. */
  start(slot: Slot): Worker {
    const { now } = this.#options
    const worker = this.#startOrFail(slot)
    const since = now()
    this.#running.add(worker)
    worker.listening.then(
      () => {
        this.#listenedOnce.add(worker)
        this.#changeListening(() => this.#listening.add(worker))
      },
      () => undefined,
    )
    void worker.exited.then((code) => {
      this.#running.delete(worker)
      this.#changeListening(() => this.#listening.delete(worker))
      if (slot.worker === worker) void this.#onExit(slot, worker, code, now() - since)
    })
    return worker
  }

  /** Starts a worker in an empty slot, after the back-off. */
  async fill(slot: Slot): Promise<void> {
    if (slot.youngDeaths > 0) {
      const backOffMs = Math.min(backOffMsMax, backOffMsFirst * 2 ** (slot.youngDeaths - 1))
      await Promise.race([this.#options.sleep(backOffMs), this.#retry.promise])
    }
    if (!this.#isStopped && slot.worker === undefined && !slot.isRolling) slot.worker = this.start(slot)
  }

  /** Ends all back-offs. */
  retryNow(): void {
    this.#retry.resolve()
    this.#retry = Promise.withResolvers()
  }

  /** Fills no slot any more. */
  stop(): void {
    this.#isStopped = true
  }

  #startOrFail({ number }: Slot): Worker {
    try {
      return this.#options.start(number)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#options.log.error('a worker cannot be started', { worker: number, reason })
      return failedWorker()
    }
  }

  #changeListening(change: () => unknown): void {
    const before = this.#listening.size
    change()
    if (this.#listening.size !== before) this.#options.onCount(this.#listening.size)
  }

  async #onExit(slot: Slot, worker: Worker, code: number, livedMs: number): Promise<void> {
    slot.worker = undefined
    if (this.#isStopped) return
    this.#logExit(slot, this.#listenedOnce.has(worker), code)
    slot.youngDeaths = livedMs >= youngMs ? 0 : slot.youngDeaths + 1
    if (!slot.isRolling) await this.fill(slot)
  }

  #logExit({ number }: Slot, hasListened: boolean, code: number): void {
    const { log, onCrash } = this.#options
    if (!hasListened) return log.error('a worker did not start; trying again', { worker: number, exit_code: code })
    if (code === 0) return log.info('a worker ended as requested; another replaces it', { worker: number })
    onCrash()
    log.error('a worker crashed; another replaces it', { worker: number, exit_code: code })
  }
}
