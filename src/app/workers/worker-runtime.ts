import type { Handlers } from '../../cluster/channel.ts'
import { followShared } from '../../cluster/shared-files.ts'
import { restartReason, type WorkerLifecycle } from '../../cluster/worker-lifecycle.ts'
import { isFirstWorker, linkToPrimary } from '../../cluster/worker-link.ts'
import { readForOther } from '../../http/page/answers-api.ts'
import type { KeptAnswers } from '../../http/page/kept-answers.ts'
import type { LedgerPlace } from '../../ledger/ledger-place.ts'
import { errorFields } from '../../observe/log.ts'
import { workerObserver } from '../../observe/worker-observer.ts'
import { healthBook } from '../../service/health/health.ts'
import { withinMs } from '../../service/within.ts'
import { remoteStores, type StoreAnswer, type StoreOperation } from '../../stores/remote.ts'
import { findStores, isSharedStore } from '../find-stores.ts'
import type { Runtime } from '../runtime.ts'
import type { ServeContext } from '../serve-context.ts'
import { sharedLimits } from '../shared-limits.ts'
import { heldHere, UseKeeper } from '../use-keeper.ts'
import { workerLimits } from './worker-limits.ts'
import type { PrimaryHandlers, WorkerHandlers } from './worker-messages.ts'

/** Timeout of store operations at the primary, as for a Redis server. */
const storeMs = 2_000

/** The runtime of a worker: shared state is in the primary, or in Redis. @throws as {@link findStores} does */
export async function workerRuntime({ given, environment, log }: ServeContext, signal: AbortSignal): Promise<Runtime> {
  const health = healthBook(() => performance.now())
  const onError = (error: unknown) => log.error('internal error', errorFields(error))
  const ours: Record<string, Handlers[string]> = {}
  const { primary, stopping } = linkToPrimary<PrimaryHandlers>(ours, onError)
  const files = followShared(primary)
  const holds = heldHere()
  const observer = workerObserver({
    primary: {
      takeRecords: (batch) => primary.call('takeRecords', batch),
      metricsText: () => primary.call('metricsText', undefined),
      rememberedRequests: (wanted) => primary.call('rememberedRequests', wanted),
      findRequest: (wanted) => primary.call('findRequest', wanted),
      allRunning: () => primary.call('allRunning', undefined),
      recentCallers: () => primary.call('recentCallers', undefined),
      attemptsAt: (providers) => primary.call('attemptsAt', providers),
      followRequests: (isFollowing) => primary.call('followRequests', isFollowing),
    },
    logLinesDropped: () => log.dropped,
    holds: holds.now,
    onLost: (batch) => rescue()?.addBatch(batch),
    onOverflow: (record) => rescue()?.add(record),
  })
  let ledger: LedgerPlace | undefined
  const use = new UseKeeper(log)

  /** This process writes the records that the primary does not take: the primary may have died. */
  function rescue(): UseKeeper | undefined {
    if (ledger === undefined) return undefined
    use.start(ledger)
    return use
  }

  // `pidof -s` may return a worker; SIGUSR2 there restarts the service too.
  process.on('SIGUSR2', () => primary.notify('roll', undefined))
  const limits = workerLimits({
    claim: (claims) => primary.call('claimLimits', claims),
    report: (reports) => primary.notify('reportLeases', reports),
    uses: (budgets) => primary.call('budgetUses', budgets),
  })
  let answers: KeptAnswers | undefined
  const handlers: Omit<WorkerHandlers, keyof WorkerLifecycle> = {
    ...files.handlers,
    ...observer.handlers,
    healthEvent: health.apply,
    readAnswer: async (wanted) => (answers === undefined ? undefined : await readForOther(answers, wanted)),
    stopAnswer: (name) => void answers?.stop(name),
    callBackLeases: limits.callBack,
  }
  Object.assign(ours, handlers)

  const { port, workers, isReplacement, healthEvents } = await primary.call('welcome', undefined)
  for (const event of healthEvents) health.apply(event)
  health.subscribe((event) => primary.notify('healthEvent', event))
  const stores = isSharedStore(given.store)
    ? await findStores(given.store, log, isReplacement)
    : remoteStores(failFast((operation) => primary.call('store', operation)))
  const sharedByMachines = isSharedStore(given.store) ? sharedLimits(given.store, workers, log) : undefined
  /** Only the primary's reason tells whether the whole service stops. */
  const doOthersStay = (): boolean => (stopping.aborted ? stopping.reason === restartReason : workers > 1)
  return {
    port,
    workers,
    isPortShared: true,
    isReporter: isFirstWorker(environment),
    isReplacement,
    health: {
      ...health,
      setTargets(targets) {
        health.setTargets(targets)
        primary.notify('targets', targets)
      },
    },
    stores,
    observer,
    storeHolds(sums) {
      holds.follow(sums)
      return observer.wake
    },
    keepUse(place) {
      ledger = place
      primary.notify('keepUse', place)
    },
    setUseZone(zone) {
      use.setZone(zone)
      primary.notify('setUseZone', zone)
    },
    shareAnswers(own) {
      answers = own
      return {
        read: (wanted) => primary.call('readAnswer', wanted).catch(() => undefined),
        stop: (name) => primary.notify('stopAnswer', name),
      }
    },
    follow: files.follow,
    probe: (port) => primary.call('probe', port),
    makeLimiter: sharedByMachines?.makeLimiter ?? limits.makeLimiter,
    async makeBudgetAuthority() {
      if (sharedByMachines !== undefined)
        return sharedByMachines.makeBudgetAuthority({
          sumSince: (scope, since) => primary.call('spentSince', { scope, since }),
        })
      return limits.makeBudgetAuthority()
    },
    buildPage: () => primary.call('buildPage', undefined),
    // A signal to this process drains it too; the primary then replaces it.
    stopping: AbortSignal.any([stopping, signal]),
    doOthersStay,
    // A signal may reach all processes, and this one first.
    doOthersListen: async () => doOthersStay() && (await primary.call('isServing', undefined).catch(() => false)),
    listening: (ownPort, lines) => primary.notify('listening', { port: ownPort, lines }),
    reload: () => void primary.call('reloadAll', undefined).catch(() => undefined),
    leftPort: () => primary.notify('leftPort', undefined),
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
