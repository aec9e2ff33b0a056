import type { Channel } from '../cluster/channel.ts'
import type { Circle } from '../cluster/circle.ts'
import type { FileCoordinator } from '../cluster/file-coordinator.ts'
import type { PrimaryLife } from '../cluster/worker-life.ts'
import type { Probe } from '../config/detect.ts'
import type { ObservedWorker } from '../observe/primary-observer.ts'
import { answerStoreOperation } from '../stores/remote.ts'
import type { Stores } from '../stores/store.ts'
import type { PrimaryAnswers, WorkerAnswers } from './cluster-answers.ts'
import { buildPage } from './page-build.ts'
import type { PrimaryHealth } from './primary-health.ts'

/** How far a service of many processes has come. */
export interface Progress {
  /** Where to listen. 0: the first worker finds a free one. */
  port: number
  /** All workers have listened. */
  hasBegun: boolean
  /** All are told to leave. */
  isStopping: boolean
}

/** What {@link primaryAnswers} speaks of. */
export interface PrimaryAnswersOptions {
  /** Of workers. */
  readonly count: number
  readonly progress: Readonly<Progress>
  readonly workers: Pick<Circle<WorkerAnswers>, 'placeOf'>
  readonly health: PrimaryHealth
  readonly files: FileCoordinator
  readonly stores: Stores
  readonly probe: Probe
  /** Begins a rolling restart. */
  readonly roll: () => void
}

/** What the primary answers its workers. @returns that for one of them, but for what its life is about */
export function primaryAnswers({
  count,
  progress,
  workers,
  health,
  files,
  stores,
  probe,
  roll,
}: PrimaryAnswersOptions) {
  let pageIsBuilt: Promise<void> | undefined

  return function answersTo(
    worker: Channel<WorkerAnswers>,
    observed: ObservedWorker,
  ): Omit<PrimaryAnswers, keyof PrimaryLife> {
    return {
      welcome: () => ({
        port: progress.port,
        workers: count,
        hasBegun: progress.hasBegun,
        standing: health.book.standing(),
      }),
      ...files.answersTo(worker),
      ...observed.answers,
      ...health.answersTo(worker),
      reloadAll: () => files.reloadAll(),
      roll,
      store: (operation) => answerStoreOperation(stores, operation),
      placeInGroup: () => (progress.isStopping ? undefined : workers.placeOf(worker)),
      probe,
      buildPage: () => (pageIsBuilt ??= buildPage()),
    }
  }
}
