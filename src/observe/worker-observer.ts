import { WireError } from '../formats/error.ts'
import { withinMs } from '../service/within.ts'
import { ownCpuSeconds } from './gateway-metrics.ts'
import type {
  PrimaryObserverHandlers,
  RecordBatch,
  Remote,
  WorkerGauges,
  WorkerObserverHandlers,
} from './observer-messages.ts'
import type { Observer } from './observer.ts'
import { recordOutbox } from './record-outbox.ts'
import type { RequestRecord } from './record.ts'
import type { HeldBy, RunningSource } from './under-way.ts'

const answerMs = 5_000

export interface WorkerObserverOptions {
  readonly primary: Remote<PrimaryObserverHandlers>
  /** Log lines dropped by this process. */
  readonly logLinesDropped: () => number
  /** The holds of this process now; `undefined`: it never held anything. */
  readonly holds?: () => HeldBy | undefined
  /** Called with records that the primary did not take, as they were sent. */
  readonly onLost?: (batch: Omit<RecordBatch, 'gauges'>) => void
  /** Called with a record that is not sent, since too many wait. */
  readonly onOverflow?: (record: RequestRecord) => void
}

/** The observer of a worker, with its handlers for messages of the primary. */
export interface WorkerObserver extends Observer {
  /** Sends a batch soon, since holds have changed. */
  wake(): void
  readonly handlers: WorkerObserverHandlers
}

/**
 * Makes the observer of a worker. It sends records to the primary four times a second, at 500 records, and on request.
 * At most 10,000 records wait; further ones are dropped and counted. Questions to the primary time out after 5 s.
 */
export function workerObserver({
  primary,
  logLinesDropped,
  holds = () => undefined,
  onLost,
  onOverflow,
}: WorkerObserverOptions): WorkerObserver {
  const source = crypto.randomUUID()
  let number = 0
  const listeners = new Set<{ readonly notify: (count: number) => void }>()
  let streamsOpen = 0
  let running: RunningSource = () => ({ count: 0, requests: [] })
  const outbox = recordOutbox<RequestRecord>({ send, ...(onOverflow === undefined ? {} : { onOverflow }) })

  async function send(records: readonly RequestRecord[]): Promise<void> {
    number += 1
    const held = holds()
    const batch = {
      ...{ source, number, count: records.length, records: JSON.stringify(records) },
      ...(held === undefined ? {} : { holds: held }),
    }
    try {
      await primary.takeRecords({ ...batch, gauges: gauges() })
    } catch (error) {
      onLost?.(batch)
      throw error
    }
  }

  function gauges(): WorkerGauges {
    return {
      streamsOpen,
      logLinesDropped: logLinesDropped(),
      recordsDropped: outbox.dropped,
      residentBytes: process.memoryUsage.rss(),
      cpuSeconds: ownCpuSeconds(),
    }
  }

  // The empty first batch announces to the primary that this worker can be asked.
  void outbox.flush()

  /** Errors are ignored: the message fails only when the primary has ended, and then this process ends too. */
  function follow(isFollowing: boolean): void {
    primary.followRequests(isFollowing).catch(() => undefined)
  }

  return {
    record: (record) => outbox.add(record),
    wake: () => outbox.wake(),
    streamsOpen: {
      add(difference) {
        streamsOpen += difference
      },
    },
    reloaded: () => undefined,
    metricsText: () => answered(primary.metricsText(undefined)),
    remembered: (scope, after) => answered(primary.rememberedRequests({ scope, after })),
    find: (scope, id) => answered(primary.findRequest({ scope, id })),
    trackRunning(source) {
      running = source
    },
    running: (id) => answered(primary.allRunning(id)),
    callers: () => answered(primary.recentCallers(undefined)),
    attempts: (providers) => answered(primary.attemptsAt(providers)),
    subscribe(listener) {
      const entry = { notify: listener }
      if (listeners.size === 0) follow(true)
      listeners.add(entry)
      return () => {
        if (listeners.delete(entry) && listeners.size === 0) follow(false)
      }
    },
    flush: async () => await withinMs(outbox.flush(), answerMs),
    handlers: {
      runningRequests: (id) => running(id),
      flushRecords: () => outbox.flush(),
      requestsRecorded(count) {
        for (const { notify } of listeners) notify(count)
      },
    },
  }
}

/** Waits for a reply of the primary. @throws {WireError} 503 when it does not arrive within 5 s, or fails */
async function answered<Answer>(question: Promise<Answer>): Promise<Answer> {
  const answer = await withinMs(
    question.then((value) => ({ value })),
    answerMs,
  ).catch((cause: unknown) => {
    throw noAnswer(cause)
  })
  if (answer === undefined) throw noAnswer(undefined)
  return answer.value
}

function noAnswer(cause: unknown): WireError {
  return new WireError(503, 'overloaded_error', 'overloaded', 'The statistics process does not respond', {
    headers: { 'retry-after': '1' },
    cause,
  })
}
