import type { Listening } from './worker-lifecycle.ts'

/** A worker process, as the primary sees it. */
export interface Worker {
  readonly pid: number
  /** Rejects when the worker ends first. */
  readonly listening: Promise<Listening>
  /** Exit code; from 128: killed by a signal. */
  readonly exited: Promise<number>
  /** Asks the worker to stop listening, finish open requests and exit. Resolves when it has left the port or ended. */
  drain(reason: string): Promise<void>
  kill(): void
}

/** A worker whose process could not be started. */
export function failedWorker(): Worker {
  const listening = Promise.reject<Listening>(new Error('it was not started'))
  listening.catch(() => undefined)
  return { pid: 0, listening, exited: Promise.resolve(1), drain: async () => undefined, kill: () => undefined }
}
