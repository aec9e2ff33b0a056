import { withinMs } from '../service/within.ts'
import { WireError } from '../wire/error.ts'
import type { PrimaryObservation, Remote, WorkerGauges, WorkerObservation } from './observer-messages.ts'
import type { Observer } from './observer.ts'
import { recordOutbox } from './record-outbox.ts'
import type { RequestRecord } from './record.ts'

const answerMs = 5_000

/** What {@link workerObserver} needs. */
export interface WorkerObserverOptions {
  readonly primary: Remote<PrimaryObservation>
  /** Of this process. */
  readonly logLinesDropped: () => number
}

/** Observation in a worker, and what it answers the primary. */
export interface WorkerObserver extends Observer {
  readonly answers: WorkerObservation
}

/** A record without what is for the log of this process only. */
type SentRecord = Omit<RequestRecord, 'cause'>

/**
 * Observation in a worker: the primary knows everything, and is told four times a second, at 500 records, and when it
 * asks. While it takes nothing, 10,000 records wait; those beyond are counted as dropped. Nobody waits longer than 5 s
 * for an answer of it.
 */
export function workerObserver({ primary, logLinesDropped }: WorkerObserverOptions): WorkerObserver {
  const followers = new Set<{ readonly tell: (count: number) => void }>()
  let streamsOpen = 0
  const outbox = recordOutbox<SentRecord>({
    send: async (records) => primary.takeRecords({ records: JSON.stringify(records), gauges: gauges() }),
  })

  function gauges(): WorkerGauges {
    return {
      streamsOpen,
      logLinesDropped: logLinesDropped(),
      recordsDropped: outbox.dropped,
      residentBytes: process.memoryUsage.rss(),
    }
  }

  // So the primary knows that this worker answers, before there is anything to ask for.
  void outbox.flush()

  /** It cannot be asked only when it has gone, and then this process is about to. */
  function follow(isFollowing: boolean): void {
    primary.followRequests(isFollowing).catch(() => undefined)
  }

  return {
    record(record) {
      outbox.add(sent(record))
    },
    streamsOpen: {
      add(difference) {
        streamsOpen += difference
      },
    },
    reloaded: () => undefined,
    metricsText: () => answered(primary.metricsText(undefined)),
    remembered: (scope, after) => answered(primary.rememberedRequests({ scope, after })),
    find: (scope, id) => answered(primary.findRequest({ scope, id })),
    attempts: (providers) => answered(primary.attemptsAt(providers)),
    subscribe(listener) {
      const entry = { tell: listener }
      if (followers.size === 0) follow(true)
      followers.add(entry)
      return () => {
        if (followers.delete(entry) && followers.size === 0) follow(false)
      }
    },
    flush: async () => void (await withinMs(outbox.flush(), answerMs)),
    answers: {
      flushRecords: outbox.flush,
      requestsRecorded(count) {
        for (const { tell } of followers) tell(count)
      },
    },
  }
}

/** One literal, which holds on to no error. */
function sent({
  time,
  id,
  model,
  stream,
  status,
  error,
  provider,
  trail,
  firstTokenMs,
  totalMs,
  usage,
  price,
  user,
}: RequestRecord): SentRecord {
  return { time, id, model, stream, status, error, provider, trail, firstTokenMs, totalMs, usage, price, user }
}

/** @throws {WireError} 503 when there is no answer in time, or none any more */
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
  return new WireError(503, 'overloaded_error', 'overloaded', 'The process that counts requests does not answer', {
    headers: { 'retry-after': '1' },
    cause,
  })
}
