import type { Listening } from './worker-life.ts'

/** One worker process, as the primary sees it. */
export interface Worker {
  readonly pid: number
  /** Rejects when it ends first. */
  readonly listening: Promise<Listening>
  /** Exit code; 128 and more: ended by a signal. */
  readonly exited: Promise<number>
  /**
   * Has it leave: it takes in no newcomers, lets what is under way finish, and ends. Resolves when it has left the
   * port, or ended.
   */
  leave(reason: string): Promise<void>
  /** Ends it at once. */
  kill(): void
}

/** One that ended before it began. */
export function stillborn(): Worker {
  const listening = Promise.reject<Listening>(new Error('it was not started'))
  listening.catch(() => undefined)
  return { pid: 0, listening, exited: Promise.resolve(1), leave: async () => undefined, kill: () => undefined }
}
