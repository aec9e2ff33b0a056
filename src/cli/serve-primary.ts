import { resolve } from 'node:path'
import { circle } from '../cluster/circle.ts'
import { fileCoordinator, type FileCoordinator } from '../cluster/file-coordinator.ts'
import { StartFailed, workforce, type Workforce } from '../cluster/workforce.ts'
import { primaryObserver } from '../observe/primary-observer.ts'
import type { WorkerAnswers } from './cluster-answers.ts'
import type { CommandContext } from './command.ts'
import { breakersOf } from './commons-alone.ts'
import { findStores } from './find-stores.ts'
import { holdPort } from './listen.ts'
import { primaryAnswers, type Progress } from './primary-answers.ts'
import { primaryHealth } from './primary-health.ts'
import { packageVersion } from './process.ts'
import type { ServeContext } from './serve-context.ts'
import { sharedProbe } from './shared-probe.ts'
import { startWorker } from './start-worker.ts'
import { readTimers } from './timers.ts'
import { untilAborted } from './until-aborted.ts'

/** A worker that is told to leave has its own deadline; so much later it is ended. */
const graceMs = 10_000

/**
 * The primary of a service of many processes: it serves nobody, and holds what they have in common
 * (docs/decisions/0009-many-processes.md).
 */
export async function servePrimary(
  context: ServeContext,
  { stdout, signal }: Pick<CommandContext, 'stdout' | 'signal'>,
): Promise<number> {
  const letGoOfPort = holdPort(context.given.host, context.given.port)
  const { force, files, progress, roll, close } = await primaryOf(context)
  const disobey = obey({ SIGUSR2: roll, SIGHUP: () => void files.reloadAll() })
  // A second signal ends this process at once, and its workers with it.
  process.on('exit', () => force.end())
  try {
    const begun = force.start().then(({ lines }) => {
      progress.hasBegun = true
      if (!signal.aborted) stdout.write(lines)
    })
    // A worker that never comes to listen must not keep the service from ending.
    await Promise.race([begun, untilAborted(signal)])
    await untilAborted(signal)
    progress.isStopping = true
    disobey()
    letGoOfPort()
    await force.stop(String(signal.reason))
    return 0
  } catch (error) {
    if (error instanceof StartFailed) return error.exitCode
    throw error
  } finally {
    disobey()
    await close()
  }
}

interface Primary {
  readonly force: Workforce
  readonly files: FileCoordinator
  readonly progress: Progress
  /** Begins a rolling restart. */
  roll(): void
  close(): Promise<void>
}

/** The workers, not started yet, and what they have in common. */
async function primaryOf({ given, environment, path, log }: ServeContext): Promise<Primary> {
  const timers = readTimers(environment)
  const count = given.workers ?? 1
  const progress: Progress = { port: given.port, hasBegun: false, isStopping: false }
  const stores = await findStores(given.store, log)
  const workers = circle<WorkerAnswers>()
  const health = primaryHealth(workers, stores.notices('health'))
  const observer = primaryObserver({
    version: packageVersion(),
    breakers: () => breakersOf(health.book),
    logLinesDropped: () => log.dropped,
    now: Date.now,
  })
  const local = sharedProbe()
  const isOurs = (file: string): boolean => resolve(file) === resolve(path)
  const files = fileCoordinator({
    onPrepare: (file) => {
      if (isOurs(file)) local.forget()
    },
    onOutcome(file, outcome) {
      if (isOurs(file)) observer.reloaded(outcome)
      // A worker that ended while the file was faulty could not be replaced.
      if (outcome === 'ok') force.wake()
    },
  })
  const answersTo = primaryAnswers({ count, progress, workers, health, files, stores, probe: local.probe, roll })
  const force: Workforce = workforce({
    count,
    log,
    start(place) {
      const worker = startWorker(place, {
        environment,
        livenessMs: timers.livenessMs,
        log,
        workers,
        observer,
        files,
        answersTo,
      })
      // The first has found a free one, where that was asked for.
      worker.listening.then(
        ({ port }) => {
          progress.port = port
        },
        () => undefined,
      )
      return worker
    },
    leaveMs: timers.drainMs + graceMs,
    onCount: observer.workersReady,
    onLoss: observer.workerRestarted,
    now: () => performance.now(),
    sleep: (ms) => Bun.sleep(ms),
  })
  function roll(): void {
    // The new ones begin with what is there now.
    local.forget()
    void force.roll()
  }

  return {
    force,
    files,
    progress,
    roll,
    async close() {
      files.close()
      await stores.close()
      await log.flush()
    },
  }
}

/** Does what signals ask for. @returns ends that */
function obey(orders: Readonly<Partial<Record<NodeJS.Signals, () => void>>>): () => void {
  const all = Object.entries(orders)
  for (const [signal, order] of all) process.on(signal, order)
  return () => {
    for (const [signal, order] of all) process.off(signal, order)
  }
}
