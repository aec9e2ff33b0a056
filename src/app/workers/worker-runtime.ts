import type { Channel, Handlers } from '../../cluster/channel.ts'
import { followShared } from '../../cluster/shared-files.ts'
import { restartReason, type WorkerLifecycle } from '../../cluster/worker-lifecycle.ts'
import { isFirstWorker, linkToPrimary } from '../../cluster/worker-link.ts'
import type { FollowFile } from '../../config/watch/follow-file.ts'
import { readForOther, type OtherAnswers } from '../../http/page/answers-api.ts'
import type { SharedAnswers } from '../../http/page/kept-answers.ts'
import type { LedgerPlace } from '../../ledger/ledger-place.ts'
import { errorFields, type Logger } from '../../observe/log.ts'
import { workerObserver, type WorkerObserver, type WorkerObserverOptions } from '../../observe/worker-observer.ts'
import { healthBook, type HealthBook } from '../../service/health/health.ts'
import { withinMs } from '../../service/within.ts'
import { remoteStores, type StoreAnswer, type StoreOperation } from '../../stores/remote.ts'
import { findStores, isSharedStore } from '../find-stores.ts'
import type { Runtime } from '../runtime.ts'
import type { ServeContext } from '../serve-context.ts'
import { sharedLimits } from '../shared-limits.ts'
import { heldHere, UseKeeper } from '../use-keeper.ts'
import { workerLimits, type WorkerLimits } from './worker-limits.ts'
import type { PrimaryHandlers, WorkerHandlers } from './worker-messages.ts'

/** Timeout of store operations at the primary, as for a Redis server. */
const storeMs = 2_000

/** The state of a worker that messages of the primary reach. */
class WorkerState {
  readonly health = healthBook(() => performance.now())
  readonly holds = heldHere()
  readonly use: UseKeeper
  readonly primary: Channel<PrimaryHandlers>
  /** Aborts when the primary asks this worker to drain, or has ended. */
  readonly stopping: AbortSignal
  readonly follow: FollowFile
  readonly observer: WorkerObserver
  readonly limits: WorkerLimits
  #answers: SharedAnswers | undefined
  #ledger: LedgerPlace | undefined

  constructor(log: Logger) {
    const ours: Record<string, Handlers[string]> = {}
    const link = linkToPrimary<PrimaryHandlers>(ours, (error) => log.error('internal error', errorFields(error)))
    const { primary } = link
    this.primary = primary
    this.stopping = link.stopping
    this.use = new UseKeeper(log)
    const files = followShared(primary)
    this.follow = files.follow
    this.observer = workerObserver({
      primary: observedBy(primary),
      logLinesDropped: () => log.dropped,
      holds: this.holds.now,
      onLost: (batch) => this.#rescue()?.addBatch(batch),
      onOverflow: (record) => this.#rescue()?.add(record),
    })
    this.limits = workerLimits({
      claim: (claims) => primary.call('claimAccounts', claims),
      report: (reports) => primary.notify('reportLeases', reports),
      uses: (budgets) => primary.call('budgetUses', budgets),
    })
    const handlers: Omit<WorkerHandlers, keyof WorkerLifecycle> = {
      ...files.handlers,
      ...this.observer.handlers,
      healthEvent: this.health.apply,
      readAnswer: async (wanted) =>
        this.#answers === undefined ? undefined : await readForOther(this.#answers, wanted),
      stopAnswer: (name) => void this.#answers?.stop(name),
      callBackLeases: this.limits.callBack,
    }
    Object.assign(ours, handlers)
    // `pidof -s` may return a worker; SIGUSR2 there restarts the service too.
    process.on('SIGUSR2', () => primary.notify('roll', undefined))
  }

  keepUse(place: LedgerPlace): void {
    this.#ledger = place
    this.primary.notify('keepUse', place)
  }

  shareAnswers(own: SharedAnswers): OtherAnswers {
    this.#answers = own
    return {
      read: (wanted) => this.primary.call('readAnswer', wanted).catch(() => undefined),
      stop: (name) => this.primary.notify('stopAnswer', name),
      // Without its primary, this worker ends soon.
      claim: (name) => this.primary.call('claimAnswer', name).catch(() => true),
      release: (name) => this.primary.notify('releaseAnswer', name),
    }
  }

  /** This process writes the records that the primary does not take: the primary may have died. */
  #rescue(): UseKeeper | undefined {
    if (this.#ledger === undefined) return undefined
    this.use.start(this.#ledger)
    return this.use
  }
}

/** The runtime of a worker: shared state is in the primary, or in Redis. @throws as {@link findStores} does */
export async function workerRuntime({ given, environment, log }: ServeContext, signal: AbortSignal): Promise<Runtime> {
  const state = new WorkerState(log)
  const { primary, health, holds, observer, use, limits, stopping } = state
  const { port, workers, isReplacement, healthEvents } = await primary.call('welcome', undefined)
  for (const event of healthEvents) health.apply(event)
  health.subscribe((event) => primary.notify('healthEvent', event))
  const stores = isSharedStore(given.store)
    ? await findStores(given.store, log, isReplacement)
    : remoteStores(failFast((operation) => primary.call('store', operation)))
  const sharedByMachines = isSharedStore(given.store) ? sharedLimits(given.store, workers, log) : undefined
  return {
    port,
    workers,
    isPortShared: true,
    isReporter: isFirstWorker(environment),
    isReplacement,
    health: toldTargets(health, primary),
    stores,
    observer,
    storeHolds(sums) {
      holds.follow(sums)
      return observer.wake
    },
    keepUse: (place) => state.keepUse(place),
    setUseZone(zone) {
      use.setZone(zone)
      primary.notify('setUseZone', zone)
    },
    useWebhook: (target) => primary.notify('useWebhook', target),
    shareAnswers: (own) => state.shareAnswers(own),
    follow: state.follow,
    probe: (asked) => primary.call('probe', asked),
    makeLimiter: sharedByMachines?.makeLimiter ?? limits.makeLimiter,
    makeBudgetAuthority: async () =>
      sharedByMachines === undefined
        ? limits.makeBudgetAuthority()
        : sharedByMachines.makeBudgetAuthority(
            { sumSince: (scope, since) => primary.call('spentSince', { scope, since }) },
            (alert) => primary.notify('alert', alert),
          ),
    buildPage: () => primary.call('buildPage', undefined),
    // A signal to this process drains it too; the primary then replaces it.
    stopping: AbortSignal.any([stopping, signal]),
    ...otherWorkers(state, workers),
    async close() {
      // It arrives before the records, whose arrival is answered.
      limits.flush()
      await observer.flush()
      await use.close()
      await sharedByMachines?.close()
      await stores.close()
    },
  }
}

/** The part of the runtime that other workers notice. */
function otherWorkers(
  { primary, stopping }: WorkerState,
  workers: number,
): Pick<Runtime, 'doOthersStay' | 'doOthersListen' | 'listening' | 'reload' | 'leftPort'> {
  /** Only the primary's reason tells whether the whole service stops. */
  const doOthersStay = (): boolean => (stopping.aborted ? stopping.reason === restartReason : workers > 1)
  return {
    doOthersStay,
    // A signal may reach all processes, and this one first.
    doOthersListen: async () => doOthersStay() && (await primary.call('isServing', undefined).catch(() => false)),
    listening: (port, lines) => primary.notify('listening', { port, lines }),
    reload: () => void primary.call('reloadAll', undefined).catch(() => undefined),
    leftPort: () => primary.notify('leftPort', undefined),
  }
}

/** The health book, whose targets the primary gets, too. */
function toldTargets(health: HealthBook, primary: Channel<PrimaryHandlers>): HealthBook {
  return {
    ...health,
    setTargets(targets) {
      health.setTargets(targets)
      primary.notify('targets', targets)
    },
  }
}

function observedBy(primary: Channel<PrimaryHandlers>): WorkerObserverOptions['primary'] {
  return {
    takeRecords: (batch) => primary.call('takeRecords', batch),
    metricsText: () => primary.call('metricsText', undefined),
    rememberedRequests: (wanted) => primary.call('rememberedRequests', wanted),
    findRequest: (wanted) => primary.call('findRequest', wanted),
    allRunning: (id) => primary.call('allRunning', id),
    recentCallers: () => primary.call('recentCallers', undefined),
    attemptsAt: (providers) => primary.call('attemptsAt', providers),
    followRequests: (isFollowing) => primary.call('followRequests', isFollowing),
  }
}

/** After a timeout, operations fail at once until the primary has answered: otherwise they would pile up. */
function failFast(
  perform: (operation: StoreOperation) => Promise<StoreAnswer>,
): (operation: StoreOperation) => Promise<StoreAnswer> {
  let unanswered = 0
  return async function performInTime(operation) {
    if (unanswered > 0) throw new Error('the primary does not answer')
    const pending = perform(operation)
    const answer = await withinMs(pending, storeMs)
    if (answer !== undefined) return answer
    unanswered += 1
    pending
      .catch(() => undefined)
      .finally(() => {
        unanswered -= 1
      })
    throw new Error(`no answer within ${storeMs} ms`)
  }
}
