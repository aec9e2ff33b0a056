import { resolve } from 'node:path'
import type { Channel } from '../../cluster/channel.ts'
import { sharedFiles, type SharedFiles } from '../../cluster/shared-files.ts'
import { StartFailed, supervisor, type Supervisor } from '../../cluster/supervisor.ts'
import { workerGroup } from '../../cluster/worker-group.ts'
import { restartReason } from '../../cluster/worker-lifecycle.ts'
import type { Probe } from '../../config/detect.ts'
import { probeModels } from '../../config/probe.ts'
import { LimitAuthority } from '../../limits/authority.ts'
import { primaryObserver } from '../../observe/primary-observer.ts'
import { healthBook } from '../../service/health/health.ts'
import { findStores } from '../find-stores.ts'
import { ledgerSpending } from '../ledger-spending.ts'
import { reservePort } from '../listen.ts'
import { packageVersion } from '../package.ts'
import { untilAborted, type ServeContext, type ServeProcess } from '../serve-context.ts'
import { breakerStates } from '../single-runtime.ts'
import { readTimers } from '../timers.ts'
import { useKeeper } from '../use-keeper.ts'
import { primaryHandlers, type WorkersState } from './primary-handlers.ts'
import { startWorker } from './start-worker.ts'
import type { WorkerHandlers } from './worker-messages.ts'

/** The primary kills a worker this long after the worker's own drain timeout. */
const graceMs = 10_000

/**
 * The primary of a service with workers: it serves no requests, and holds the state that the workers share
 * (docs/decisions/0009-many-processes.md).
 *
 * @returns exit code
 */
export async function servePrimary(
  context: ServeContext,
  { stdout, signal }: Pick<ServeProcess, 'stdout' | 'signal'>,
): Promise<number> {
  const releasePort = reservePort(context.given.host, context.given.port)
  const { workers, files, state, roll, close } = await primaryOf(context)
  const unhandle = onSignals({ SIGUSR2: roll, SIGHUP: () => void files.reloadAll() })
  // A second signal ends this process at once; here it ends its workers, too.
  process.on('exit', () => workers.kill())
  try {
    const started = workers.start().then(({ lines }) => {
      state.hasStarted = true
      if (!signal.aborted) stdout.write(lines)
    })
    // A worker that never listens must not prevent the service from ending.
    await Promise.race([started, untilAborted(signal)])
    await untilAborted(signal)
    state.isStopping = true
    unhandle()
    releasePort()
    await workers.stop(String(signal.reason))
    return 0
  } catch (error) {
    if (error instanceof StartFailed) return error.exitCode
    throw error
  } finally {
    unhandle()
    await close()
  }
}

interface Primary {
  readonly workers: Supervisor
  readonly files: Pick<SharedFiles<Channel<WorkerHandlers>>, 'reloadAll'>
  readonly state: WorkersState
  /** Starts a rolling restart. */
  roll(): void
  close(): Promise<void>
}

/** The workers, not started yet, and the state that they share. */
async function primaryOf({ given, environment, path, log }: ServeContext): Promise<Primary> {
  const timers = readTimers(environment)
  const count = given.workers ?? 1
  const state: WorkersState = { port: given.port, hasStarted: false, isStopping: false }
  const stores = await findStores(given.store, log)
  const group = workerGroup<WorkerHandlers>()
  const health = healthBook(() => performance.now())
  const use = useKeeper(log)
  const observer = primaryObserver({
    version: packageVersion(),
    breakers: () => breakerStates(health),
    logLinesDropped: () => log.dropped,
    ledgerRowsDropped: () => use.rowsDropped,
    onBatch: use.addBatch,
    now: Date.now,
  })
  const spending = ledgerSpending(use)
  const clock = () => performance.now()
  const authority = new LimitAuthority({ processes: count, clock, spending, now: Date.now })
  const local = sharedProbe()
  const kills = new WeakMap<Channel<WorkerHandlers>, () => void>()
  const isOurs = (file: string): boolean => resolve(file) === resolve(path)
  const files = sharedFiles<Channel<WorkerHandlers>>({
    onChange: (file) => {
      if (isOurs(file)) local.forget()
    },
    onOutcome(file, outcome) {
      if (isOurs(file)) observer.reloaded(outcome)
      // A worker that ended while the file was faulty could not be restarted. Files are loaded for workers only.
      // oxlint-disable-next-line no-use-before-define -- files and workers need each other
      if (outcome === 'ok') workers.retryNow()
    },
    onDifference(worker) {
      log.error('a worker could not use a file that another one uses; it is replaced')
      worker.notify('drain', restartReason)
    },
    onSilent(worker) {
      log.error('a worker has not taken over a changed file within 60 s; it is killed')
      kills.get(worker)?.()
    },
  })
  const handlersOf = primaryHandlers({
    count,
    state,
    group,
    health,
    files,
    stores,
    spending,
    probe: local.probe,
    keepUse: use.start,
    setUseZone: use.setZone,
    roll,
  })
  const workers: Supervisor = supervisor({
    count,
    log,
    start(slot) {
      const worker = startWorker(slot, {
        environment,
        livenessMs: timers.livenessMs,
        log,
        group,
        observer,
        authority,
        files,
        handlersOf,
      })
      kills.set(worker.channel, worker.kill)
      // The first worker may have picked a free port.
      worker.listening.then(
        ({ port }) => {
          state.port = port
        },
        () => undefined,
      )
      return worker
    },
    drainMsMax: timers.drainMs + graceMs,
    onCount: observer.workersReady,
    onCrash: observer.workerRestarted,
    now: () => performance.now(),
    sleep: (ms) => Bun.sleep(ms),
  })
  function roll(): void {
    // The new workers use the local servers that run now.
    local.forget()
    void workers.roll()
  }

  return {
    workers,
    files,
    state,
    roll,
    async close() {
      files.close()
      await stores.close()
      await use.close()
      await log.flush()
    },
  }
}

/** Handles signals. @returns removes the handlers */
function onSignals(handlers: Readonly<Partial<Record<NodeJS.Signals, () => void>>>): () => void {
  const all = Object.entries(handlers)
  for (const [signal, handler] of all) process.on(signal, handler)
  return () => {
    for (const [signal, handler] of all) process.off(signal, handler)
  }
}

/** Asks each local port once for all workers, which start one after the other and must find the same servers. */
interface SharedProbe {
  readonly probe: Probe
  /** Clears the cached answers. */
  forget(): void
}

/** A probe with an empty cache. */
export function sharedProbe(ask: Probe = probeModels): SharedProbe {
  const asked = new Map<number, ReturnType<Probe>>()
  return {
    probe(port) {
      const answer = asked.get(port) ?? ask(port)
      asked.set(port, answer)
      return answer
    },
    forget: () => asked.clear(),
  }
}
