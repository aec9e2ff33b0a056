import { resolve } from 'node:path'
import type { Channel } from '../../cluster/channel.ts'
import { SharedFiles } from '../../cluster/shared-files.ts'
import { spawnWorker, type SpawnedWorker } from '../../cluster/spawn-worker.ts'
import { supervisor, type Supervisor } from '../../cluster/supervisor.ts'
import { workerGroup } from '../../cluster/worker-group.ts'
import { restartReason, type PrimaryLifecycle } from '../../cluster/worker-lifecycle.ts'
import type { Probe } from '../../config/detect.ts'
import { probeModels } from '../../config/probe.ts'
import { AnswerClaims } from '../../http/page/answer-claims.ts'
import { LimitAuthority } from '../../limits/authority.ts'
import type { Spending } from '../../limits/budgets/opened-budgets.ts'
import type { JoinedProcess } from '../../limits/lease-messages.ts'
import { errorFields } from '../../observe/log.ts'
import { primaryObserver, type ObservedWorker, type PrimaryObserver } from '../../observe/primary-observer.ts'
import { healthBook } from '../../service/health/health.ts'
import { answerStoreOperation } from '../../stores/remote.ts'
import type { Stores } from '../../stores/store.ts'
import { Alerts } from '../alerts.ts'
import { ledgerSpending } from '../ledger-spending.ts'
import { packageVersion } from '../package.ts'
import { buildPage } from '../page/page-build.ts'
import type { ServeContext } from '../serve-context.ts'
import { breakerStates } from '../single-runtime.ts'
import type { Telemetry } from '../telemetry.ts'
import { readTimers, type ServeTimers } from '../timers.ts'
import { UseKeeper } from '../use-keeper.ts'
import type { PrimaryHandlers, WorkerHandlers } from './worker-messages.ts'

/** The primary kills a worker this long after the worker's own drain timeout. */
const graceMs = 10_000

const clock = (): number => performance.now()

/** State of a service with workers. */
interface WorkersState {
  /** Port to listen on. 0: the first worker picks a free one. */
  port: number
  /** All workers have listened. */
  hasStarted: boolean
  /** All workers are draining. */
  isStopping: boolean
}

/** The workers, not started yet, and the state that they share. */
export class Primary {
  readonly state: WorkersState
  readonly files: SharedFiles<Channel<WorkerHandlers>>
  readonly workers: Supervisor
  readonly #context: ServeContext
  readonly #stores: Stores
  readonly #timers: ServeTimers
  readonly #group = workerGroup<WorkerHandlers>()
  readonly #claims = new AnswerClaims<Channel<WorkerHandlers>>()
  readonly #health = healthBook(clock)
  readonly #use: UseKeeper
  readonly #observer: PrimaryObserver
  readonly #authority: LimitAuthority
  readonly #probe = sharedProbe()
  readonly #kills = new WeakMap<Channel<WorkerHandlers>, () => void>()
  readonly #spending: Spending
  readonly #telemetry: Telemetry | undefined
  readonly #alerts: Alerts
  #page: Promise<void> | undefined

  constructor(context: ServeContext, stores: Stores, telemetry?: Telemetry) {
    const { given, environment, log } = context
    const count = given.workers ?? 1
    this.#context = context
    this.#stores = stores
    this.#telemetry = telemetry
    this.#alerts = new Alerts({ environment, log })
    this.#timers = readTimers(environment)
    this.state = { port: given.port, hasStarted: false, isStopping: false }
    this.#use = new UseKeeper(log)
    this.#observer = primaryObserver({
      version: packageVersion(),
      breakers: () => breakerStates(this.#health),
      logLinesDropped: () => log.dropped,
      ledgerRowsDropped: () => this.#use.rowsDropped,
      onBatch: this.#use.addBatch,
      ...(telemetry && { spansDropped: telemetry.dropped }),
      onRecord: (record) => {
        this.#alerts.record(record)
        telemetry?.record(record)
      },
      now: Date.now,
    })
    telemetry?.start(() => this.#observer.metricValues())
    this.#spending = ledgerSpending(this.#use)
    this.#authority = new LimitAuthority({
      ...{ processes: count, clock, spending: this.#spending, now: Date.now },
      onCrossed: this.#alerts.send,
    })
    this.files = this.#sharedFiles()
    this.workers = supervisor({
      count,
      log,
      start: (slot) => this.#start(slot),
      drainMsMax: this.#timers.drainMs + graceMs,
      onCount: (count) => this.#observer.workersReady(count),
      onCrash: () => this.#observer.workerRestarted(),
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
    await this.#telemetry?.close()
    await this.#alerts.close()
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

  /** Starts a worker and registers it until it ends. @param slot from 0 */
  #start(slot: number): SpawnedWorker<WorkerHandlers> {
    const { environment, log } = this.#context
    const left: (() => void)[] = []
    const worker = spawnWorker<WorkerHandlers>({
      command: ownCommand(),
      environment,
      slot,
      livenessMs: this.#timers.livenessMs,
      handlersOf: (channel) => {
        const observed = this.#observe(channel)
        const limits = this.#authority.joined({ callBack: (keys) => channel.call('callBackLeases', keys) })
        left.push(
          () => observed.left(),
          () => limits.left(),
        )
        return this.#handlersOf(channel, observed, limits)
      },
      onHung: () => log.error('a worker does not answer; it is killed', { worker: slot }),
      onError: (error) => log.error('internal error', errorFields(error)),
      onEnd: (channel) => {
        this.#group.remove(channel)
        this.#claims.left(channel)
        this.files.forget(channel)
        for (const leave of left) leave()
      },
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

  #observe(worker: Channel<WorkerHandlers>): ObservedWorker {
    this.#group.add(worker)
    return this.#observer.joined({
      runningRequests: (id) => worker.call('runningRequests', id),
      flushRecords: () => worker.call('flushRecords', undefined),
      requestsRecorded: async (recorded) => worker.notify('requestsRecorded', recorded),
    })
  }

  #handlersOf(
    worker: Channel<WorkerHandlers>,
    observed: ObservedWorker,
    limits: JoinedProcess,
  ): Omit<PrimaryHandlers, keyof PrimaryLifecycle> {
    return {
      welcome: () => ({
        port: this.state.port,
        workers: this.#context.given.workers ?? 1,
        isReplacement: this.state.hasStarted,
        healthEvents: this.#health.snapshot(),
      }),
      ...this.files.handlersOf(worker),
      ...observed.handlers,
      spentSince: ({ scope, since }) => this.#spending.sumSince(scope, since),
      healthEvent: (event) => {
        this.#health.apply(event)
        this.#group.notifyAll('healthEvent', event, worker)
      },
      readAnswer: (wanted) => this.#group.firstOf('readAnswer', wanted, worker),
      claimAnswer: (name) => this.#claims.claim(name, worker),
      releaseAnswer: (name) => this.#claims.release(name, worker),
      stopAnswer: (name) => this.#group.notifyAll('stopAnswer', name, worker),
      claimAccounts: limits.claim,
      reportLeases: limits.report,
      budgetUses: limits.uses,
      targets: this.#health.setTargets,
      reloadAll: () => this.files.reloadAll(),
      roll: this.roll,
      store: (operation) => answerStoreOperation(this.#stores, operation),
      isServing: () => !this.state.isStopping,
      probe: this.#probe.probe,
      keepUse: this.#use.start,
      setUseZone: this.#use.setZone,
      useWebhook: this.#alerts.use,
      alert: this.#alerts.send,
      buildPage: () => (this.#page ??= buildPage()),
    }
  }
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
