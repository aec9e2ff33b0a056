import type { Channel } from '../cluster/channel.ts'
import type { Circle } from '../cluster/circle.ts'
import type { FileCoordinator } from '../cluster/file-coordinator.ts'
import { spawnWorker, type SpawnedWorker } from '../cluster/spawn-worker.ts'
import { mistake, type Logger } from '../observe/log.ts'
import type { ObservedWorker, PrimaryObserver } from '../observe/primary-observer.ts'
import type { WorkerAnswers } from './cluster-answers.ts'
import { ownCommand } from './own-command.ts'
import type { primaryAnswers } from './primary-answers.ts'

/** What a worker becomes part of. */
export interface StartWorkerOptions {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly livenessMs: number
  readonly log: Logger
  readonly workers: Circle<WorkerAnswers>
  readonly observer: Pick<PrimaryObserver, 'joined'>
  readonly files: Pick<FileCoordinator, 'forget'>
  readonly answersTo: ReturnType<typeof primaryAnswers>
}

/** Starts a worker that joins the others, and is forgotten when it ends. @param place from 0 */
export function startWorker(
  place: number,
  { environment, livenessMs, log, workers, observer, files, answersTo }: StartWorkerOptions,
): SpawnedWorker<WorkerAnswers> {
  let observed: ObservedWorker | undefined

  function join(worker: Channel<WorkerAnswers>) {
    workers.joined(worker)
    observed = observer.joined({
      flushRecords: () => worker.ask('flushRecords', undefined),
      requestsRecorded: async (recorded) => worker.tell('requestsRecorded', recorded),
    })
    return answersTo(worker, observed)
  }

  function forget(worker: Channel<WorkerAnswers>): void {
    workers.left(worker)
    files.forget(worker)
    observed?.left()
  }

  return spawnWorker<WorkerAnswers>({
    command: ownCommand(),
    environment,
    place,
    livenessMs,
    answersTo: join,
    onPort: workers.noteSocket,
    onHung: () => log.error('a worker hangs, and is ended', { worker: place }),
    onFault: (error) => log.error('a mistake of this service', mistake(error)),
    onEnd: forget,
  })
}
