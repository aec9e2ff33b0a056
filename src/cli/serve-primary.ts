import { resolve } from 'node:path'
import type { Channel } from '../cluster/channel.ts'
import { circle } from '../cluster/circle.ts'
import { fileCoordinator } from '../cluster/file-coordinator.ts'
import { spawnWorker, type SpawnedWorker } from '../cluster/spawn-worker.ts'
import { StartFailed, workforce } from '../cluster/workforce.ts'
import { mistake } from '../observe/log.ts'
import { primaryObserver, type ObservedWorker } from '../observe/primary-observer.ts'
import { healthBook } from '../service/health.ts'
import type { HealthNews } from '../service/health-news.ts'
import { answerStoreOperation } from '../stores/remote.ts'
import type { PrimaryAnswers, WorkerAnswers } from './cluster-answers.ts'
import type { CommandContext } from './command.ts'
import { breakersOf } from './commons-alone.ts'
import { findStores } from './find-stores.ts'
import { shareHealth } from './health-notices.ts'
import { holdPort } from './listen.ts'
import { ownCommand } from './own-command.ts'
import { buildPage } from './page-build.ts'
import { packageVersion } from './process.ts'
import type { ServeContext } from './serve-context.ts'
import { readTimers } from './timers.ts'
import { untilAborted } from './until-aborted.ts'

/** A worker that is told to leave has its own deadline; so much later it is ended. */
const graceMs = 10_000

type Lifeless = Omit<PrimaryAnswers, 'listening' | 'leftPort'>

/** The primary of a service of many processes: it serves nobody, and holds what they have in common (docs/decisions/0009-many-processes.md). */
export async function servePrimary({ given, environment, path, log }: ServeContext, { stdout, signal }: Pick<CommandContext, 'stdout' | 'signal'>): Promise<number> {
  const timers = readTimers(environment)
  const letGoOfPort = holdPort(given.host, given.port)
  const count = given.workers ?? 1
  const health = healthBook(() => performance.now())
  const observer = primaryObserver({ version: packageVersion(), breakers: () => breakersOf(health), logLinesDropped: () => log.dropped, now: Date.now })
  const files = fileCoordinator({
    onOutcome(file, outcome) {
      if (resolve(file) === resolve(path)) observer.reloaded(outcome)
      // A worker that ended while the file was faulty could not be replaced.
      if (outcome === 'ok') force.wake()
    },
  })
  const stores = await findStores(given.store, log)
  const tellMachines = shareHealth(stores.notices('health'), (news) => tellOn(news))
  let pageIsBuilt: Promise<void> | undefined
  const workers = circle<WorkerAnswers>()
  let port = given.port
  let hasBegun = false
  let isStopping = false

  /** Told on to all but who told it. */
  function tellOn(news: HealthNews, from?: Channel<WorkerAnswers>): void {
    health.hear(news)
    workers.tell('news', news, from)
  }

  function answersTo(worker: Channel<WorkerAnswers>, observed: ObservedWorker): Lifeless {
    return {
      welcome: () => ({ port, workers: count, hasBegun, standing: health.standing() }),
      ...files.answersTo(worker),
      ...observed.answers,
      reloadAll: () => files.reloadAll(),
      roll,
      store: (operation) => answerStoreOperation(stores, operation),
      news(news) {
        tellOn(news, worker)
        tellMachines(news)
      },
      targets: health.setTargets,
      placeInGroup: () => (isStopping ? undefined : workers.placeOf(worker)),
      buildPage: () => pageIsBuilt ??= buildPage(),
    }
  }

  function start(place: number): SpawnedWorker<WorkerAnswers> {
    let observed: ObservedWorker | undefined
    const worker = spawnWorker<WorkerAnswers>({
      command: ownCommand(), environment, place,
      answersTo(worker) {
        workers.joined(worker)
        observed = observer.joined({ flushRecords: () => worker.ask('flushRecords', undefined), requestsRecorded: async (recorded) => worker.tell('requestsRecorded', recorded) })
        return answersTo(worker, observed)
      },
      onPort: workers.noteSocket,
      livenessMs: timers.livenessMs,
      onHung: () => log.error('a worker hangs, and is ended', { worker: place }),
      onFault: (error) => log.error('a mistake of this service', mistake(error)),
      onEnd(worker) {
        workers.left(worker)
        files.forget(worker)
        observed?.left()
      },
    })
    // The first has found a free one, where that was asked for.
    worker.listening.then((said) => { port = said.port }, () => undefined)
    return worker
  }

  const force = workforce({
    count, start, log,
    leaveMs: timers.drainMs + graceMs,
    onCount: observer.workersReady,
    onLoss: observer.workerRestarted,
    now: () => performance.now(),
    sleep: (ms) => Bun.sleep(ms),
  })
  const roll = () => void force.roll()
  const reload = () => void files.reloadAll()
  process.on('SIGUSR2', roll)
  process.on('SIGHUP', reload)
  try {
    const begun = force.start().then(({ lines }) => {
      hasBegun = true
      if (!signal.aborted) stdout.write(lines)
    })
    // A worker that never comes to listen must not keep the service from ending.
    await Promise.race([begun, untilAborted(signal)])
    await untilAborted(signal)
    isStopping = true
    letGoOfPort()
    await force.stop(String(signal.reason))
    return 0
  } catch (error) {
    if (error instanceof StartFailed) return error.exitCode
    throw error
  } finally {
    process.off('SIGUSR2', roll)
    process.off('SIGHUP', reload)
    files.close()
    await stores.close()
    await log.flush()
  }
}
