import type { Channel } from '../../cluster/channel.ts'
import type { SharedFiles } from '../../cluster/shared-files.ts'
import { spawnWorker, type SpawnedWorker } from '../../cluster/spawn-worker.ts'
import type { WorkerGroup } from '../../cluster/worker-group.ts'
import type { LimitAuthority } from '../../limits/authority.ts'
import type { JoinedProcess } from '../../limits/lease-messages.ts'
import { errorFields, type Logger } from '../../observe/log.ts'
import type { ObservedWorker, PrimaryObserver } from '../../observe/primary-observer.ts'
import type { primaryHandlers } from './primary-handlers.ts'
import type { WorkerHandlers } from './worker-messages.ts'

export interface StartWorkerOptions {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly livenessMs: number
  readonly log: Logger
  readonly group: WorkerGroup<WorkerHandlers>
  readonly observer: Pick<PrimaryObserver, 'joined'>
  /** Decides about the limits and budgets of all workers. */
  readonly authority: Pick<LimitAuthority, 'joined'>
  readonly files: Pick<SharedFiles<Channel<WorkerHandlers>>, 'forget'>
  readonly handlersOf: ReturnType<typeof primaryHandlers>
}

/** Starts a worker and registers it until it ends. @param slot from 0 */
export function startWorker(
  slot: number,
  { environment, livenessMs, log, group, observer, authority, files, handlersOf }: StartWorkerOptions,
): SpawnedWorker<WorkerHandlers> {
  let observed: ObservedWorker | undefined
  let limits: JoinedProcess | undefined

  function join(worker: Channel<WorkerHandlers>) {
    group.add(worker)
    observed = observer.joined({
      runningRequests: () => worker.call('runningRequests', undefined),
      flushRecords: () => worker.call('flushRecords', undefined),
      requestsRecorded: async (recorded) => worker.notify('requestsRecorded', recorded),
    })
    limits = authority.joined({ callBack: (keys) => worker.call('callBackLeases', keys) })
    return handlersOf(worker, observed, limits)
  }

  function forget(worker: Channel<WorkerHandlers>): void {
    group.remove(worker)
    files.forget(worker)
    observed?.left()
    limits?.left()
  }

  return spawnWorker<WorkerHandlers>({
    command: ownCommand(),
    environment,
    slot,
    livenessMs,
    handlersOf: join,
    onHung: () => log.error('a worker does not answer; it is killed', { worker: slot }),
    onError: (error) => log.error('internal error', errorFields(error)),
    onEnd: forget,
  })
}

/** The command line that starts this program again: runtime, script and flags, or one executable and flags. */
function ownCommand(): readonly string[] {
  const flags = process.argv.slice(2)
  return isCompiled() ? [process.execPath, ...flags] : [process.execPath, ...process.execArgv, Bun.main, ...flags]
}

/** A compiled program's script has a virtual path. */
function isCompiled(): boolean {
  return Bun.main.startsWith('/$bunfs/') || Bun.main.startsWith('B:\\~BUN\\')
}
