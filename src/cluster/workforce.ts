import { restartReason, type Listening } from './worker-life.ts'

/** One worker process, as the primary sees it. */
export interface Worker {
  readonly pid: number
  /** Rejects when it ends first. */
  readonly listening: Promise<Listening>
  /** Exit code; 128 and more: ended by a signal. */
  readonly exited: Promise<number>
  /** Has it leave: it takes in no newcomers, lets what is under way finish, and ends. Resolves when it has left the port, or ended. */
  leave(reason: string): Promise<void>
  /** Ends it at once. */
  kill(): void
}

/** What {@link workforce} needs. */
export interface WorkforceOptions {
  readonly count: number
  /** Starts a process. @param place from 0: that of the one it stands in for @throws when the system starts none; it is tried again as if it had ended at once */
  readonly start: (place: number) => Worker
  readonly log: { info(message: string, fields?: Fields): void; warn(message: string, fields?: Fields): void; error(message: string, fields?: Fields): void }
  /** Who was told to leave and has not ended after so many milliseconds is ended. */
  readonly leaveMs: number
  /** Told whenever another number of workers listens. */
  readonly onCount: (listening: number) => void
  /** Told when one has ended that was not asked to. */
  readonly onLoss: () => void
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
}

type Fields = Readonly<Record<string, string | number>>

/** So many workers, kept at work. */
export interface Workforce {
  /** Starts them, one after the other, until told to stop. @returns what the first said @throws {StartFailed} when one ends before it listens; then all are ended */
  start(): Promise<Listening>
  /** Puts a new one in the place of each, one after the other, none before the new one listens; waits until all have started. One that does not start ends it. Never rejects. */
  roll(): Promise<void>
  /** What kept workers from starting may be over: those that are to be tried again later are tried now. */
  wake(): void
  /** Has all leave. Resolves when all have ended. */
  stop(reason: string): Promise<void>
}

/** A worker has ended before it listened; it has said why on standard error. */
export class StartFailed extends Error {
  override readonly name = 'StartFailed'
  readonly exitCode: number
  constructor(exitCode: number) {
    super(`a worker did not start (exit code ${exitCode})`)
    this.exitCode = exitCode
  }
}

/** Who lived for so long may be replaced at once. */
const soundMs = 10_000
const againMsFirst = 1_000
const againMsMost = 30_000

interface Place {
  readonly number: number
  worker: Worker | undefined
  /** Lives in a row that were short. */
  shortLives: number
  isRolling: boolean
}

/** Keeps workers at work: whoever ends is replaced, at once or, where lives are short, after 1 s, 2 s, 4 s … 30 s. */
export function workforce({ count, start, log, leaveMs, onCount, onLoss, now, sleep }: WorkforceOptions): Workforce {
  const places: readonly Place[] = Array.from({ length: count }, (_, number) => ({ number, worker: undefined, shortLives: 0, isRolling: false }))
  /** All processes that have not ended, those that leave among them. */
  const living = new Set<Worker>()
  const listening = new Set<Worker>()
  const listenedOnce = new WeakSet<Worker>()
  const begun = Promise.withResolvers<void>()
  let isStopping = false
  let rolling: Promise<void> | undefined
  let rollsAgain = false
  let woken = Promise.withResolvers<void>()

  function hire(place: Place): Worker {
    const worker = startOrNot(place)
    const since = now()
    living.add(worker)
    worker.listening.then(() => {
      listenedOnce.add(worker)
      note(() => listening.add(worker))
    }, () => undefined)
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
      log.error('a worker cannot be started', { worker: place.number, reason: error instanceof Error ? error.message : String(error) })
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
    if (isStopping) return
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
    if (place.shortLives > 0) await Promise.race([sleep(Math.min(againMsMost, againMsFirst * 2 ** (place.shortLives - 1))), woken.promise])
    if (!isStopping && place.worker === undefined && !place.isRolling) place.worker = hire(place)
  }

  async function rollPlace(place: Place): Promise<boolean> {
    place.isRolling = true
    const fresh = hire(place)
    try {
      await fresh.listening
    } catch {
      log.error('the new worker did not start; the rolling restart ends here, and those at work stay', { worker: place.number })
      return false
    } finally {
      place.isRolling = false
      if (!listening.has(fresh) && place.worker === undefined) void refill(place)
    }
    const before = place.worker
    place.worker = fresh
    if (!living.has(fresh)) return false
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

  async function rollAll(): Promise<void> {
    log.info('rolling restart', { workers: count })
    for (const place of places) if (isStopping || !await rollPlace(place)) return
    log.info('rolling restart done', { workers: count })
  }

  return {
    async start() {
      const said: Listening[] = []
      for (const place of places) {
        if (isStopping) break
        const worker = hire(place)
        try {
          said.push(await worker.listening)
        } catch {
          if (!isStopping) for (const other of living) other.kill()
          isStopping = true
          throw new StartFailed(await worker.exited)
        }
        place.worker = worker
      }
      const [first] = said
      if (first === undefined) throw new Error('no worker was asked for')
      begun.resolve()
      return first
    },
    roll() {
      rollsAgain = rolling !== undefined
      rolling ??= (async () => {
        await begun.promise
        do {
          rollsAgain = false
          await rollAll()
        } while (rollsAgain && !isStopping)
        rolling = undefined
      })()
      return rolling
    },
    wake() {
      woken.resolve()
      woken = Promise.withResolvers()
    },
    async stop(reason) {
      isStopping = true
      const all = [...living]
      for (const worker of all) void worker.leave(reason)
      const ended = Promise.all(all.map((worker) => worker.exited))
      await Promise.race([ended, sleep(leaveMs)])
      for (const worker of living) worker.kill()
      await ended
    },
  }
}

/** One that ended before it began. */
function stillborn(): Worker {
  const listening = Promise.reject<Listening>(new Error('it was not started'))
  listening.catch(() => undefined)
  return { pid: 0, listening, exited: Promise.resolve(1), leave: async () => undefined, kill: () => undefined }
}
