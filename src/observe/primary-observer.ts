import { withinMs } from '../service/within.ts'
import { gatewayMetrics, type GatewayMetricsOptions } from './gateway-metrics.ts'
import type { PrimaryObservation, RecordBatch, Remote, WorkerGauges, WorkerObservation } from './observer-messages.ts'
import { recentRequests } from './recent-requests.ts'
import type { RequestRecord } from './record.ts'
import { sharedRuns } from './shared-runs.ts'

const flushMs = 1_000

/** What {@link primaryObserver} needs. */
export interface PrimaryObserverOptions extends Pick<GatewayMetricsOptions, 'version' | 'breakers'> {
  /** Of the primary itself. */
  readonly logLinesDropped: () => number
  /** Unix milliseconds. */
  readonly now: () => number
  /** Milliseconds an answer waits for workers to send what they hold. Default 1,000. */
  readonly flushMs?: number
}

/** What the primary knows of the requests of all its workers. */
export interface PrimaryObserver {
  /** A worker was started. It is asked for what it holds once it has sent something. */
  joined(worker: Remote<WorkerObservation>): ObservedWorker
  /** A reload of the configuration, of all workers together. */
  reloaded(result: 'ok' | 'failed'): void
  /** So many workers are ready now. */
  workersReady(count: number): void
  /** A worker was started in the place of one that died. */
  workerRestarted(): void
}

/** A worker, as the primary observes it. */
export interface ObservedWorker {
  /** What this worker is answered. */
  readonly answers: PrimaryObservation
  /** It has ended. What it sent stays counted; its streams and its memory do not. */
  left(): void
}

interface Seat {
  readonly worker: Remote<WorkerObservation>
  /** What it said of itself last; absent: it has not said anything yet, and may not answer. */
  gauges: WorkerGauges | undefined
  /** It has not answered the last flush. */
  isAsked: boolean
}

const nothingYet: WorkerGauges = { streamsOpen: 0, logLinesDropped: 0, recordsDropped: 0, residentBytes: 0 }

/**
 * Metrics and memory of a service of many processes. Before a question is answered, all workers send what they hold;
 * one that takes longer than a second is waited for no more until it has answered.
 */
export function primaryObserver({
  version,
  breakers,
  logLinesDropped,
  now,
  flushMs: limitMs = flushMs,
}: PrimaryObserverOptions): PrimaryObserver {
  const seats = new Set<Seat>()
  const dropped = { logLines: 0, records: 0 }
  let ready = 0
  let restarts = 0
  const recent = recentRequests(now)
  const metrics = gatewayMetrics({
    version,
    ...(breakers === undefined ? {} : { breakers }),
    logLinesDropped: () => logLinesDropped() + dropped.logLines,
    recordsDropped: () => dropped.records,
    residentBytes: () =>
      [...seats].reduce((sum, { gauges = nothingYet }) => sum + gauges.residentBytes, process.memoryUsage.rss()),
    workersReady: () => ready,
    workerRestarts: () => restarts,
  })

  const upToDate = sharedRuns(async () => {
    await Promise.all(Array.from(seats, flush))
  })

  async function flush(seat: Seat): Promise<void> {
    if (seat.gauges === undefined || seat.isAsked) return
    seat.isAsked = true
    // One that has ended answers nothing more, and has left when it is told so.
    const answered = seat.worker
      .flushRecords(undefined)
      .catch(() => undefined)
      .then(() => {
        seat.isAsked = false
      })
    await withinMs(answered, limitMs)
  }

  function take(seat: Seat, { records, gauges }: RecordBatch): void {
    const all: readonly RequestRecord[] = JSON.parse(records)
    for (const record of all) {
      metrics.record(record)
      recent.record(record)
    }
    const before = seat.gauges ?? nothingYet
    dropped.logLines += gauges.logLinesDropped - before.logLinesDropped
    dropped.records += gauges.recordsDropped - before.recordsDropped
    // Its last batch may be read after its end.
    const streamsOpen = seats.has(seat) ? gauges.streamsOpen : 0
    metrics.streamsOpen.add(streamsOpen - before.streamsOpen)
    seat.gauges = { ...gauges, streamsOpen }
  }

  /** An answer with everything that had happened when it was asked for. */
  async function exact<Answer>(answer: () => Answer): Promise<Answer> {
    await upToDate()
    return answer()
  }

  function joined(worker: Remote<WorkerObservation>): ObservedWorker {
    const seat: Seat = { worker, gauges: undefined, isAsked: false }
    let unfollow: (() => void) | undefined
    seats.add(seat)
    const tell = (count: number): void => void worker.requestsRecorded(count).catch(() => undefined)
    return {
      answers: {
        takeRecords: (batch) => take(seat, batch),
        metricsText: () => exact(metrics.text),
        rememberedRequests: ({ scope, after }) => exact(() => recent.since(scope, after)),
        findRequest: ({ scope, id }) => exact(() => recent.find(scope, id)),
        attemptsAt: (providers) =>
          exact(() => new Map(providers.map((provider) => [provider, recent.attempts(provider)]))),
        followRequests(isFollowing) {
          unfollow?.()
          unfollow = isFollowing ? recent.subscribe(tell) : undefined
        },
      },
      left() {
        seats.delete(seat)
        unfollow?.()
        const { gauges = nothingYet } = seat
        metrics.streamsOpen.add(-gauges.streamsOpen)
        seat.gauges = { ...gauges, streamsOpen: 0 }
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
