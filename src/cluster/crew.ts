import { stillborn, type Worker } from './worker.ts'

/** What {@link crew} needs. */
export interface CrewOptions {
  readonly count: number
  /**
   * Starts a process. @param place from 0: that of the one it stands in for @throws when the system starts none; it is
   * tried again as if it had ended at once
   */
  readonly start: (place: number) => Worker
  readonly log: {
    info(message: string, fields?: Fields): void
    warn(message: string, fields?: Fields): void
    error(message: string, fields?: Fields): void
  }
  /** Told whenever another number of workers listens. */
  readonly onCount: (listening: number) => void
  /** Told when one has ended that was not asked to. */
  readonly onLoss: () => void
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
}

type Fields = Readonly<Record<string, string | number>>

/** One of so many, and who stands in it. */
export interface Place {
  readonly number: number
  worker: Worker | undefined
  /** Lives in a row that were short. */
  shortLives: number
  /** Another is about to take it; until then nobody is hired for it. */
  isRolling: boolean
}

/**
 * So many places, and the workers in them. Whoever ends is replaced, at once or, where lives are short, after 1 s, 2 s,
 * 4 s … 30 s.
 */
export interface Crew {
  readonly places: readonly Place[]
  /** All processes that have not ended, those that leave among them. */
  readonly living: ReadonlySet<Worker>
  readonly listening: ReadonlySet<Worker>
  /** Nobody is replaced any more. */
  readonly isDismissed: boolean
  /** Starts one for a place, which it is not put in yet. */
  hire(place: Place): Worker
  /** Puts one in a place that nobody stands in. */
  refill(place: Place): Promise<void>
  /** Those that are to be tried again later are tried now. */
  wake(): void
  /** From now on nobody is replaced. */
  dismiss(): void
}

/** Who lived for so long may be replaced at once. */
const soundMs = 10_000
const againMsFirst = 1_000
const againMsMost = 30_000

/** Empty places. */
export function crew({ count, start, log, onCount, onLoss, now, sleep }: CrewOptions): Crew {
  const places: readonly Place[] = Array.from({ length: count }, (_, number) => ({
    number,
    worker: undefined,
    shortLives: 0,
    isRolling: false,
  }))
  const living = new Set<Worker>()
  const listening = new Set<Worker>()
  const listenedOnce = new WeakSet<Worker>()
  let isDismissed = false
  let woken = Promise.withResolvers<void>()

  function hire(place: Place): Worker {
    const worker = startOrNot(place)
    const since = now()
    living.add(worker)
    worker.listening.then(
      () => {
        listenedOnce.add(worker)
        note(() => listening.add(worker))
      },
      () => undefined,
    )
    void worker.exited.then((code) => {
      living.delete(worker)
      note(() => listening.delete(worker))
      if (place.worker === worker) void lost(place, worker, code, now() - since)
    })
    return worker
  }

  function startOrNot(place: Place): Worker {
    try {
      return start(place.number)
    } catch (error) {
      log.error('a worker cannot be started', {
        worker: place.number,
        reason: error instanceof Error ? error.message : String(error),
      })
      return stillborn()
    }
  }

  function note(change: () => unknown): void {
    const before = listening.size
    change()
    if (listening.size !== before) onCount(listening.size)
  }

  async function lost(place: Place, worker: Worker, code: number, livedMs: number): Promise<void> {
    place.worker = undefined
    if (isDismissed) return
    tellOfLoss(place, listenedOnce.has(worker), code)
    place.shortLives = livedMs >= soundMs ? 0 : place.shortLives + 1
    if (!place.isRolling) await refill(place)
  }

  function tellOfLoss({ number }: Place, hasListened: boolean, code: number): void {
    if (!hasListened) return log.error('a worker did not start; it is tried again', { worker: number, exit_code: code })
    if (code === 0) return log.info('a worker was told to end; another takes its place', { worker: number })
    onLoss()
    log.error('a worker has ended; another takes its place', { worker: number, exit_code: code })
  }

  async function refill(place: Place): Promise<void> {
    if (place.shortLives > 0)
      await Promise.race([sleep(Math.min(againMsMost, againMsFirst * 2 ** (place.shortLives - 1))), woken.promise])
    if (!isDismissed && place.worker === undefined && !place.isRolling) place.worker = hire(place)
  }

  return {
    places,
    living,
    listening,
    get isDismissed() {
      return isDismissed
    },
    hire,
    refill,
    wake() {
      woken.resolve()
      woken = Promise.withResolvers()
    },
    dismiss() {
      isDismissed = true
    },
  }
}
