import type { Channel } from '../../cluster/channel.ts'
import type { SharedFiles } from '../../cluster/shared-files.ts'
import type { WorkerGroup } from '../../cluster/worker-group.ts'
import type { PrimaryLifecycle } from '../../cluster/worker-lifecycle.ts'
import type { Probe } from '../../config/detect.ts'
import type { LedgerPlace } from '../../ledger/ledger-place.ts'
import type { Spending } from '../../limits/budgets/opened-budgets.ts'
import type { JoinedProcess } from '../../limits/lease-messages.ts'
import type { ObservedWorker } from '../../observe/primary-observer.ts'
import type { HealthBook } from '../../service/health/health.ts'
import { answerStoreOperation } from '../../stores/remote.ts'
import type { Stores } from '../../stores/store.ts'
import { buildPage } from '../page/page-build.ts'
import type { PrimaryHandlers, WorkerHandlers } from './worker-messages.ts'

/** State of a service with workers. */
export interface WorkersState {
  /** Port to listen on. 0: the first worker picks a free one. */
  port: number
  /** All workers have listened. */
  hasStarted: boolean
  /** All workers are draining. */
  isStopping: boolean
}

export interface PrimaryHandlersOptions {
  /** Number of workers. */
  readonly count: number
  readonly state: Readonly<WorkersState>
  readonly group: Pick<WorkerGroup<WorkerHandlers>, 'notifyAll' | 'firstOf'>
  /** Health as seen by all workers together. */
  readonly health: HealthBook
  readonly files: SharedFiles<Channel<WorkerHandlers>>
  readonly stores: Stores
  readonly spending: Spending
  readonly probe: Probe
  /** Records the use by requests. */
  readonly keepUse: (place: LedgerPlace) => void
  /** @param zone IANA name */
  readonly setUseZone: (zone: string) => void
  /** Starts a rolling restart. */
  readonly roll: () => void
}

/** Makes the primary's handlers for each worker, except {@link PrimaryLifecycle}. */
export function primaryHandlers(options: PrimaryHandlersOptions) {
  const { count, state, group, health, files, stores, spending, probe, keepUse, setUseZone, roll } = options
  let page: Promise<void> | undefined

  return function handlersOf(
    worker: Channel<WorkerHandlers>,
    observed: ObservedWorker,
    limits: JoinedProcess,
  ): Omit<PrimaryHandlers, keyof PrimaryLifecycle> {
    return {
      welcome: () => ({
        port: state.port,
        workers: count,
        isReplacement: state.hasStarted,
        healthEvents: health.snapshot(),
      }),
      ...files.handlersOf(worker),
      ...observed.handlers,
      spentSince: ({ scope, since }) => spending.sumSince(scope, since),
      healthEvent(event) {
        health.apply(event)
        group.notifyAll('healthEvent', event, worker)
      },
      readAnswer: (wanted) => group.firstOf('readAnswer', wanted, worker),
      stopAnswer: (name) => group.notifyAll('stopAnswer', name, worker),
      claimAccounts: limits.claim,
      reportLeases: limits.report,
      budgetUses: limits.uses,
      targets: health.setTargets,
      reloadAll: () => files.reloadAll(),
      roll,
      store: (operation) => answerStoreOperation(stores, operation),
      isServing: () => !state.isStopping,
      probe,
      keepUse,
      setUseZone,
      buildPage: () => (page ??= buildPage()),
    }
  }
}
