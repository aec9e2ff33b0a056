import { channel, type Answers, type Channel } from './channel.ts'
import { workerVariable, type PrimaryLife, type WorkerLife } from './worker-life.ts'

/** A worker's way to its primary. */
export interface WorkerLink<Theirs extends PrimaryLife> {
  readonly primary: Channel<Theirs>
  /**
   * Aborts when the primary says so, or is gone: nobody would replace this worker any more. Its reason is a signal's
   * name, or the cause in words.
   */
  readonly leaving: AbortSignal
}

/** Whether this process was started by a primary. */
export function isWorker(environment: Readonly<Record<string, string | undefined>>): boolean {
  return environment[workerVariable] !== undefined && process.send !== undefined
}

/** Whether it stands in the first place: there is no second one that does, but while one takes over from the other. */
export function isFirstWorker(environment: Readonly<Record<string, string | undefined>>): boolean {
  return environment[workerVariable] === '1'
}

/**
 * Takes up the way to the primary. @param ours what the primary may ask, to be filled at once; what a worker's life is
 * about is put in here
 */
export function linkToPrimary<Theirs extends PrimaryLife>(
  ours: Record<string, Answers[string]>,
  onFault: (error: unknown) => void,
): WorkerLink<Theirs> {
  const controller = new AbortController()
  const life: WorkerLife = { leave: (reason) => controller.abort(reason), alive: () => undefined }
  const primary = channel<Theirs>((message) => void process.send?.(message), Object.assign(ours, life), onFault)
  process.on('message', (message: unknown) => primary.take(message))
  process.on('disconnect', () => {
    primary.close()
    controller.abort('the primary has ended')
  })
  return { primary, leaving: controller.signal }
}
