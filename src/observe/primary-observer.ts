import { withinMs } from '../service/within.ts'
import { gatewayMetrics, ownCpuSeconds, type GatewayMetricsOptions, type GatewayMetrics } from './gateway-metrics.ts'
import type {
  PrimaryObserverHandlers,
  RecordBatch,
  Remote,
  WorkerGauges,
  WorkerObserverHandlers,
} from './observer-messages.ts'
import { recentRequests, type RecentRequests } from './recent-requests.ts'
import { type RequestRecord } from './record.ts'
import type { MetricValues } from './registry.ts'
import { runningMax, type RunningRequests } from './under-way.ts'

const flushMs = 1_000

export interface PrimaryObserverOptions extends Pick<
  GatewayMetricsOptions,
  'version' | 'breakers' | 'ledgerRowsDropped' | 'spansDropped'
> {
  /** Log lines dropped by the primary itself. */
  readonly logLinesDropped: () => number
  /** Unix milliseconds. */
  readonly now: () => number
  /** Milliseconds a reply waits for the workers' records. Default 1,000. */
  readonly flushMs?: number
  /** Called with each batch of records, before it is counted. Must not throw. */
  readonly onBatch?: (batch: RecordBatch) => void
  /** Called with each record. Must not throw. */
  readonly onRecord?: (record: RequestRecord) => void
}

/** Collects the records of all workers, in the primary. */
export interface PrimaryObserver {
  /** Adds a started worker. It is asked for records only after its first message. */
  joined(worker: Remote<WorkerObserverHandlers>): ObservedWorker
  /** Counts a reload of the configuration, once for all workers. */
  reloaded(result: 'ok' | 'failed'): void
  /** Sets the number of workers that are ready. */
  workersReady(count: number): void
  /** The metrics of all workers, as they were known last. */
  metricValues(): readonly MetricValues[]
  /** Counts a worker that was started to replace one that died. */
  workerRestarted(): void
}

/** The primary's side of one worker. */
export interface ObservedWorker {
  /** Handlers for this worker's messages. */
  readonly handlers: PrimaryObserverHandlers
  /** The worker has ended. Its records stay counted; its open streams and memory do not. */
  left(): void
}

interface WorkerState {
  readonly worker: Remote<WorkerObserverHandlers>
  /** Last gauges received; `undefined` before the first message, when the worker may not respond yet. */
  gauges: WorkerGauges | undefined
  /** The worker has not replied to the last flush. */
  isFlushing: boolean
}

const noGauges: WorkerGauges = {
  streamsOpen: 0,
  logLinesDropped: 0,
  recordsDropped: 0,
  residentBytes: 0,
  cpuSeconds: 0,
}

/**
 * Makes the observer of a service of several processes. Before each reply all workers send their records. A worker that
 * takes longer than a second is not waited for again until it has replied.
 */
export function primaryObserver(options: PrimaryObserverOptions): PrimaryObserver {
  return new ObserverOfWorkers(options)
}

class ObserverOfWorkers implements PrimaryObserver {
  readonly #logLinesDropped: () => number
  readonly #limitMs: number
  readonly #onBatch: ((batch: RecordBatch) => void) | undefined
  readonly #onRecord: ((record: RequestRecord) => void) | undefined
  readonly #workers = new Set<WorkerState>()
  readonly #dropped = { logLines: 0, records: 0 }
  /** Of all workers, those that have ended included. */
  #cpuSeconds = 0
  #ready = 0
  #restarts = 0
  readonly #recent: RecentRequests
  readonly #metrics: GatewayMetrics
  readonly #upToDate: () => Promise<void>

  constructor({
    version,
    breakers,
    logLinesDropped,
    now,
    flushMs: limitMs = flushMs,
    onBatch,
    onRecord,
    ledgerRowsDropped = () => 0,
    spansDropped = () => 0,
  }: PrimaryObserverOptions) {
    this.#logLinesDropped = logLinesDropped
    this.#limitMs = limitMs
    this.#onBatch = onBatch
    this.#onRecord = onRecord
    this.#recent = recentRequests(now)
    this.#metrics = gatewayMetrics({
      version,
      ...(breakers === undefined ? {} : { breakers }),
      logLinesDropped: () => this.#logLinesDropped() + this.#dropped.logLines,
      recordsDropped: () => this.#dropped.records,
      ledgerRowsDropped,
      spansDropped,
      residentBytes: () =>
        [...this.#workers].reduce(
          (sum, { gauges = noGauges }) => sum + gauges.residentBytes,
          process.memoryUsage.rss(),
        ),
      cpuSeconds: () => ownCpuSeconds() + this.#cpuSeconds,
      workersReady: () => this.#ready,
      workerRestarts: () => this.#restarts,
    })
    this.#upToDate = sharedRuns(async () => {
      await Promise.all(Array.from(this.#workers, (state) => this.#flush(state)))
    })
  }

  joined(worker: Remote<WorkerObserverHandlers>): ObservedWorker {
    const state: WorkerState = { worker, gauges: undefined, isFlushing: false }
    let unsubscribe: (() => void) | undefined
    this.#workers.add(state)
    const tell = (count: number): void => void worker.requestsRecorded(count).catch(() => undefined)
    return {
      handlers: {
        takeRecords: (batch) => this.#take(state, batch),
        metricsText: () => this.#exact(() => this.#metrics.text()),
        rememberedRequests: ({ scope, after }) => this.#exact(() => this.#recent.since(scope, after)),
        findRequest: ({ scope, id }) => this.#exact(() => this.#recent.find(scope, id)),
        allRunning: (id) => this.#allRunning(id),
        recentCallers: () => this.#exact(this.#recent.callers),
        attemptsAt: (providers) =>
          this.#exact(() => new Map(providers.map((provider) => [provider, this.#recent.attempts(provider)]))),
        followRequests: (isFollowing) => {
          unsubscribe?.()
          unsubscribe = isFollowing ? this.#recent.subscribe(tell) : undefined
        },
      },
      left: () => {
        this.#workers.delete(state)
        unsubscribe?.()
        const { gauges = noGauges } = state
        this.#metrics.streamsOpen.add(-gauges.streamsOpen)
        state.gauges = { ...gauges, streamsOpen: 0 }
      },
    }
  }

  reloaded(result: 'ok' | 'failed'): void {
    this.#metrics.reloaded(result)
  }

  workersReady(count: number): void {
    this.#ready = count
  }

  metricValues(): readonly MetricValues[] {
    return this.#metrics.read()
  }

  workerRestarted(): void {
    this.#restarts += 1
  }

  async #flush(state: WorkerState): Promise<void> {
    if (state.gauges === undefined || state.isFlushing) return
    state.isFlushing = true
    // A worker that has ended rejects; `left` is called for it elsewhere.
    const answered = state.worker
      .flushRecords(undefined)
      .catch(() => undefined)
      .then(() => {
        state.isFlushing = false
      })
    await withinMs(answered, this.#limitMs)
  }

  #take(state: WorkerState, batch: RecordBatch): void {
    this.#onBatch?.(batch)
    const { records, gauges } = batch
    // A worker is the same program, and wrote RequestRecords.
    // oxlint-disable-next-line typescript/consistent-type-assertions
    const all = JSON.parse(records) as readonly RequestRecord[]
    for (const record of all) {
      this.#metrics.record(record)
      this.#recent.record(record)
      this.#onRecord?.(record)
    }
    const before = state.gauges ?? noGauges
    this.#dropped.logLines += gauges.logLinesDropped - before.logLinesDropped
    this.#dropped.records += gauges.recordsDropped - before.recordsDropped
    this.#cpuSeconds += gauges.cpuSeconds - before.cpuSeconds
    // The last batch of a worker may be read after the worker has ended.
    const streamsOpen = this.#workers.has(state) ? gauges.streamsOpen : 0
    this.#metrics.streamsOpen.add(streamsOpen - before.streamsOpen)
    state.gauges = { ...gauges, streamsOpen }
  }

  /** Asks all workers. */
  async #allRunning(id: string | undefined): Promise<RunningRequests> {
    const answers = await Promise.all(
      Array.from(this.#workers, async ({ worker, gauges }) =>
        gauges === undefined ? undefined : withinMs(worker.runningRequests(id), this.#limitMs).catch(() => undefined),
      ),
    )
    const known = answers.filter((answer) => answer !== undefined)
    return {
      count: known.reduce((sum, { count }) => sum + count, 0),
      requests: known
        .flatMap(({ requests }) => requests)
        .toSorted((one, other) => one.time - other.time)
        .slice(0, runningMax),
    }
  }

  /** Computes a reply that includes all requests which ended before the question. */
  async #exact<Answer>(answer: () => Answer): Promise<Answer> {
    await this.#upToDate()
    return answer()
  }
}

/**
 * Shares runs of `work`, one at a time, between callers. A call during a run waits for the next run, together with all
 * other such calls, so that each caller's run starts after its call.
 *
 * @param work must not reject
 */
export function sharedRuns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  function start(): Promise<void> {
    next = undefined
    running = work().then(() => {
      if (next === undefined) running = undefined
    })
    return running
  }

  return function run() {
    if (running === undefined) return start()
    next ??= running.then(start)
    return next
  }
}
