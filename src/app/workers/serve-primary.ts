import { resolve } from 'node:path'
import type { Channel } from '../../cluster/channel.ts'
import { SharedFiles } from '../../cluster/shared-files.ts'
import type { SpawnedWorker } from '../../cluster/spawn-worker.ts'
import { StartFailed, supervisor, type Supervisor } from '../../cluster/supervisor.ts'
import { workerGroup } from '../../cluster/worker-group.ts'
import { restartReason } from '../../cluster/worker-lifecycle.ts'
import type { Probe } from '../../config/detect.ts'
import { probeModels } from '../../config/probe.ts'
import { LimitAuthority } from '../../limits/authority.ts'
import { primaryObserver, type PrimaryObserver } from '../../observe/primary-observer.ts'
import { healthBook } from '../../service/health/health.ts'
import type { Stores } from '../../stores/store.ts'
import { findStores } from '../find-stores.ts'
import { ledgerSpending } from '../ledger-spending.ts'
import { reservePort } from '../listen.ts'
import { packageVersion } from '../package.ts'
import { untilAborted, type ServeContext, type ServeProcess } from '../serve-context.ts'
import { breakerStates } from '../single-runtime.ts'
import { readTimers, type ServeTimers } from '../timers.ts'
import { UseKeeper } from '../use-keeper.ts'
import { primaryHandlers, type WorkersState } from './primary-handlers.ts'
import { startWorker } from './start-worker.ts'
import type { WorkerHandlers } from './worker-messages.ts'

/** The primary kills a worker this long after the worker's own drain timeout. */
const graceMs = 10_000

const clock = (): number => performance.now()

/** The workers, not started yet, and the state that they share. */
class Primary {
  readonly state: WorkersState
  readonly files: SharedFiles<Channel<WorkerHandlers>>
  readonly workers: Supervisor
  readonly #context: ServeContext
  readonly #stores: Stores
  readonly #timers: ServeTimers
  readonly #group = workerGroup<WorkerHandlers>()
  readonly #health = healthBook(clock)
  readonly #use: UseKeeper
  readonly #observer: PrimaryObserver
  readonly #authority: LimitAuthority
  readonly #probe = sharedProbe()
  readonly #kills = new WeakMap<Channel<WorkerHandlers>, () => void>()
  readonly #handlersOf: ReturnType<typeof primaryHandlers>

  constructor(context: ServeContext, stores: Stores) {
    const { given, environment, log } = context
    const count = given.workers ?? 1
    this.#context = context
    this.#stores = stores
    this.#timers = readTimers(environment)
    this.state = { port: given.port, hasStarted: false, isStopping: false }
    this.#use = new UseKeeper(log)
    this.#observer = primaryObserver({
      version: packageVersion(),
      breakers: () => breakerStates(this.#health),
      logLinesDropped: () => log.dropped,
      ledgerRowsDropped: () => this.#use.rowsDropped,
      onBatch: this.#use.addBatch,
      now: Date.now,
    })
    const spending = ledgerSpending(this.#use)
    this.#authority = new LimitAuthority({ processes: count, clock, spending, now: Date.now })
    this.files = this.#sharedFiles()
    this.#handlersOf = primaryHandlers({
      count,
      state: this.state,
      group: this.#group,
      health: this.#health,
      files: this.files,
      stores,
      spending,
      probe: this.#probe.probe,
      keepUse: this.#use.start,
      setUseZone: this.#use.setZone,
      roll: this.roll,
    })
    this.workers = supervisor({
      count,
      log,
      start: (slot) => this.#start(slot),
      drainMsMax: this.#timers.drainMs + graceMs,
      onCount: this.#observer.workersReady,
      onCrash: this.#observer.workerRestarted,
      now: clock,
      sleep: (ms) => Bun.sleep(ms),
    })
  }

  /** Starts a rolling restart. The new workers use the local servers that run then. */
  readonly roll = (): void => {
    this.#probe.forget()
    void this.workers.roll()
  }

  async close(): Promise<void> {
    this.files.close()
    await this.#stores.close()
    await this.#use.close()
    await this.#context.log.flush()
  }

  #sharedFiles(): SharedFiles<Channel<WorkerHandlers>> {
    const { path, log } = this.#context
    const isOurs = (file: string): boolean => resolve(file) === resolve(path)
    return new SharedFiles<Channel<WorkerHandlers>>({
      onChange: (file) => {
        if (isOurs(file)) this.#probe.forget()
      },
      onOutcome: (file, outcome) => {
        if (isOurs(file)) this.#observer.reloaded(outcome)
        // A worker that ended while the file was faulty could not be restarted. Files are loaded for workers only.
        if (outcome === 'ok') this.workers.retryNow()
      },
      onDifference(worker) {
        log.error('a worker could not use a file that another one uses; it is replaced')
        worker.notify('drain', restartReason)
      },
      onSilent: (worker) => {
        log.error('a worker has not taken over a changed file within 60 s; it is killed')
        this.#kills.get(worker)?.()
      },
    })
  }

  #start(slot: number): SpawnedWorker<WorkerHandlers> {
    const { environment, log } = this.#context
    const worker = startWorker(slot, {
      environment,
      livenessMs: this.#timers.livenessMs,
      log,
      group: this.#group,
      observer: this.#observer,
      authority: this.#authority,
      files: this.files,
      handlersOf: this.#handlersOf,
    })
    this.#kills.set(worker.channel, worker.kill)
    // The first worker may have picked a free port.
    worker.listening.then(
      ({ port }) => {
        this.state.port = port
      },
      () => undefined,
    )
    return worker
  }
}

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
  const primary = new Primary(context, await findStores(context.given.store, context.log))
  const { workers, files, state, roll } = primary
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
    await primary.close()
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
