import { withinMs } from '../service/within.ts'
import { gatewayMetrics, type GatewayMetricsOptions } from './gateway-metrics.ts'
import type {
  PrimaryObserverHandlers,
  RecordBatch,
  Remote,
  WorkerGauges,
  WorkerObserverHandlers,
} from './observer-messages.ts'
import { recentRequests } from './recent-requests.ts'
import { type RequestRecord } from './record.ts'
import { runningMax, type RunningRequests } from './under-way.ts'

const flushMs = 1_000

export interface PrimaryObserverOptions extends Pick<
  GatewayMetricsOptions,
  'version' | 'breakers' | 'ledgerRowsDropped'
> {
  /** Log lines dropped by the primary itself. */
  readonly logLinesDropped: () => number
  /** Unix milliseconds. */
  readonly now: () => number
  /** Milliseconds a reply waits for the workers' records. Default 1,000. */
  readonly flushMs?: number
  /** Called with each batch of records, before it is counted. Must not throw. */
  readonly onBatch?: (batch: RecordBatch) => void
}

/** Collects the records of all workers, in the primary. */
export interface PrimaryObserver {
  /** Adds a started worker. It is asked for records only after its first message. */
  joined(worker: Remote<WorkerObserverHandlers>): ObservedWorker
  /** Counts a reload of the configuration, once for all workers. */
  reloaded(result: 'ok' | 'failed'): void
  /** Sets the number of workers that are ready. */
  workersReady(count: number): void
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

const noGauges: WorkerGauges = { streamsOpen: 0, logLinesDropped: 0, recordsDropped: 0, residentBytes: 0 }

/**
 * Makes the observer of a service of several processes. Before each reply all workers send their records. A worker that
 * takes longer than a second is not waited for again until it has replied.
 */
export function primaryObserver({
  version,
  breakers,
  logLinesDropped,
  now,
  flushMs: limitMs = flushMs,
  onBatch,
  ledgerRowsDropped = () => 0,
}: PrimaryObserverOptions): PrimaryObserver {
  const workers = new Set<WorkerState>()
  const dropped = { logLines: 0, records: 0 }
  let ready = 0
  let restarts = 0
  const recent = recentRequests(now)
  const metrics = gatewayMetrics({
    version,
    ...(breakers === undefined ? {} : { breakers }),
    logLinesDropped: () => logLinesDropped() + dropped.logLines,
    recordsDropped: () => dropped.records,
    ledgerRowsDropped,
    residentBytes: () =>
      [...workers].reduce((sum, { gauges = noGauges }) => sum + gauges.residentBytes, process.memoryUsage.rss()),
    workersReady: () => ready,
    workerRestarts: () => restarts,
  })

  const upToDate = sharedRuns(async () => {
    await Promise.all(Array.from(workers, flush))
  })

  async function flush(state: WorkerState): Promise<void> {
    if (state.gauges === undefined || state.isFlushing) return
    state.isFlushing = true
    // A worker that has ended rejects; `left` is called for it elsewhere.
    const answered = state.worker
      .flushRecords(undefined)
      .catch(() => undefined)
      .then(() => {
        state.isFlushing = false
      })
    await withinMs(answered, limitMs)
  }

  function take(state: WorkerState, batch: RecordBatch): void {
    onBatch?.(batch)
    const { records, gauges } = batch
    // A worker is the same program, and wrote RequestRecords.
    // oxlint-disable-next-line typescript/consistent-type-assertions
    const all = JSON.parse(records) as readonly RequestRecord[]
    for (const record of all) {
      metrics.record(record)
      recent.record(record)
    }
    const before = state.gauges ?? noGauges
    dropped.logLines += gauges.logLinesDropped - before.logLinesDropped
    dropped.records += gauges.recordsDropped - before.recordsDropped
    // The last batch of a worker may be read after the worker has ended.
    const streamsOpen = workers.has(state) ? gauges.streamsOpen : 0
    metrics.streamsOpen.add(streamsOpen - before.streamsOpen)
    state.gauges = { ...gauges, streamsOpen }
  }

  /** Asks all workers. */
  async function allRunning(): Promise<RunningRequests> {
    const answers = await Promise.all(
      Array.from(workers, async ({ worker, gauges }) =>
        gauges === undefined ? undefined : withinMs(worker.runningRequests(undefined), limitMs).catch(() => undefined),
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
  async function exact<Answer>(answer: () => Answer): Promise<Answer> {
    await upToDate()
    return answer()
  }

  function joined(worker: Remote<WorkerObserverHandlers>): ObservedWorker {
    const state: WorkerState = { worker, gauges: undefined, isFlushing: false }
    let unsubscribe: (() => void) | undefined
    workers.add(state)
    const tell = (count: number): void => void worker.requestsRecorded(count).catch(() => undefined)
    return {
      handlers: {
        takeRecords: (batch) => take(state, batch),
        metricsText: () => exact(metrics.text),
        rememberedRequests: ({ scope, after }) => exact(() => recent.since(scope, after)),
        findRequest: ({ scope, id }) => exact(() => recent.find(scope, id)),
        allRunning,
        recentCallers: () => exact(recent.callers),
        attemptsAt: (providers) =>
          exact(() => new Map(providers.map((provider) => [provider, recent.attempts(provider)]))),
        followRequests(isFollowing) {
          unsubscribe?.()
          unsubscribe = isFollowing ? recent.subscribe(tell) : undefined
        },
      },
      left() {
        workers.delete(state)
        unsubscribe?.()
        const { gauges = noGauges } = state
        metrics.streamsOpen.add(-gauges.streamsOpen)
        state.gauges = { ...gauges, streamsOpen: 0 }
      },
    }
  }

  return {
    joined,
    reloaded: metrics.reloaded,
    workersReady(count) {
      ready = count
    },
    workerRestarted() {
      restarts += 1
    },
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
