import { Channel, type Handlers } from './channel.ts'
import { workerVariable, type PrimaryLifecycle, type WorkerLifecycle } from './worker-lifecycle.ts'

/** A worker's connection to its primary. */
export interface WorkerLink<Theirs extends PrimaryLifecycle> {
  readonly primary: Channel<Theirs>
  /** Aborts when the primary asks this worker to drain, or has ended. The reason is a signal's name, or the cause. */
  readonly stopping: AbortSignal
}

/** Whether a primary started this process. */
export function isWorker(environment: Readonly<Record<string, string | undefined>>): boolean {
  return environment[workerVariable] !== undefined && process.send !== undefined
}

/** Whether this is the worker of the first slot. During its restart there are two. */
export function isFirstWorker(environment: Readonly<Record<string, string | undefined>>): boolean {
  return environment[workerVariable] === '1'
}

/**
 * Opens the channel to the primary.
 *
 * @param ours the functions of this worker, to be filled in before the next turn of the event loop; those of
 *   {@link WorkerLifecycle} are added here
 */
export function linkToPrimary<Theirs extends PrimaryLifecycle>(
  ours: Record<string, Handlers[string]>,
  onError: (error: unknown) => void,
): WorkerLink<Theirs> {
  const controller = new AbortController()
  const lifecycle: WorkerLifecycle = { drain: (reason) => controller.abort(reason), ping: () => undefined }
  const primary = new Channel<Theirs>(
    (message) => void process.send?.(message),
    Object.assign(ours, lifecycle),
    onError,
  )
  process.on('message', (message: unknown) => primary.receive(message))
  process.on('disconnect', () => {
    primary.close()
    controller.abort('the primary has ended')
  })
  return { primary, stopping: controller.signal }
}
