import type { Caller } from '../people/person.ts'
import type { ProviderAttempts } from './provider-attempts.ts'
import type { Remembered, Scope } from './recent-requests.ts'
import type { RequestEntry } from './request-entry.ts'
import type { HeldBy, RunningRequests, RunningSource } from './under-way.ts'

/** State of a worker, sent with its records. */
export interface WorkerGauges {
  /** Streams that the worker is sending now. */
  readonly streamsOpen: number
  /** Log lines dropped since the worker started. */
  readonly logLinesDropped: number
  /** Records dropped since the worker started. */
  readonly recordsDropped: number
  /** Resident memory of the worker. */
  readonly residentBytes: number
  readonly cpuSeconds: number
}

/** Records of requests that have ended, in their order. */
export interface RecordBatch {
  /** Id of the worker process. */
  readonly source: string
  /** From 1, without gaps. */
  readonly number: number
  /** Number of the records. */
  readonly count: number
  /** JSON of `RequestRecord`s; costs half of cloning them (docs/observability.md). */
  readonly records: string
  /** What the worker holds after these requests. Absent: it never held anything. */
  readonly holds?: HeldBy
  readonly gauges: WorkerGauges
}

/** The primary's handlers for messages of one worker, which arrive in the order they were sent. */
export type PrimaryObserverHandlers = {
  /**
   * Records a batch. A worker sends the next one only after the reply, so that it cannot overload the primary. The
   * first batch is empty and announces that the worker can be asked.
   */
  readonly takeRecords: (batch: RecordBatch) => void
  /** As `Observer.metricsText`. This and the next four wait until all workers have sent their records. */
  readonly metricsText: (nothing: undefined) => Promise<string>
  readonly rememberedRequests: (wanted: { readonly scope: Scope; readonly after: number }) => Promise<Remembered>
  readonly findRequest: (wanted: { readonly scope: Scope; readonly id: string }) => Promise<RequestEntry | undefined>
  /** The requests under way in all workers, or those with this id. */
  readonly allRunning: (id: string | undefined) => Promise<RunningRequests>
  readonly recentCallers: (nothing: undefined) => Promise<readonly Caller[]>
  readonly attemptsAt: (providers: readonly string[]) => Promise<ReadonlyMap<string, ProviderAttempts>>
  /** Starts or stops `requestsRecorded` messages to the worker. */
  readonly followRequests: (isFollowing: boolean) => void
}

/** A worker's handlers for messages of the primary. */
export type WorkerObserverHandlers = {
  readonly runningRequests: RunningSource
  /** Sends all records and the gauges. Replies when the primary has them. */
  readonly flushRecords: (nothing: undefined) => Promise<void>
  /** The number of requests recorded so far. Sent to workers that follow, at most four times a second. */
  readonly requestsRecorded: (count: number) => void
}

/** Functions of another process: asynchronous, and rejecting when that process has ended. */
export type Remote<Functions extends Readonly<Record<string, (argument: never) => unknown>>> = {
  readonly [Name in keyof Functions]: (
    argument: Parameters<Functions[Name]>[0],
  ) => Promise<Awaited<ReturnType<Functions[Name]>>>
}
