import { crew as emptyCrew, type CrewOptions } from './crew.ts'
import { rolling } from './rolling.ts'
import type { Listening } from './worker-life.ts'
import type { Worker } from './worker.ts'

/** What {@link workforce} needs. */
export interface WorkforceOptions extends CrewOptions {
  /** Who was told to leave and has not ended after so many milliseconds is ended. */
  readonly leaveMs: number
}

/** So many workers, kept at work. */
export interface Workforce {
  /**
   * Starts them, one after the other, until told to stop. @returns what the first said @throws {StartFailed} when one
   * ends before it listens; then all are ended
   */
  start(): Promise<Listening>
  /**
   * Puts a new one in the place of each, one after the other, none before the new one listens; waits until all have
   * started. One that does not start ends it. Never rejects.
   */
  roll(): Promise<void>
  /** What kept workers from starting may be over: those that are to be tried again later are tried now. */
  wake(): void
  /** Has all leave. Resolves when all have ended. */
  stop(reason: string): Promise<void>
  /** Ends all at once. */
  end(): void
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

/** Starts workers, keeps them at work, and ends them. */
export function workforce({ leaveMs, ...options }: WorkforceOptions): Workforce {
  const crew = emptyCrew(options)
  const begun = Promise.withResolvers<void>()

  function end(): void {
    for (const worker of crew.living) worker.kill()
  }

  async function listeningOf(worker: Worker): Promise<Listening> {
    try {
      return await worker.listening
    } catch {
      if (!crew.isDismissed) end()
      crew.dismiss()
      throw new StartFailed(await worker.exited)
    }
  }

  return {
    async start() {
      const said: Listening[] = []
      for (const place of crew.places) {
        if (crew.isDismissed) break
        const worker = crew.hire(place)
        said.push(await listeningOf(worker))
        place.worker = worker
      }
      const [first] = said
      if (first === undefined) throw new Error('no worker was asked for')
      begun.resolve()
      return first
    },
    roll: rolling(crew, { ...options, leaveMs, begun: begun.promise }),
    wake: () => crew.wake(),
    async stop(reason) {
      crew.dismiss()
      const all = [...crew.living]
      for (const worker of all) void worker.leave(reason)
      const ended = Promise.all(all.map((worker) => worker.exited))
      await Promise.race([ended, options.sleep(leaveMs)])
      end()
      await ended
    },
    end,
  }
}
